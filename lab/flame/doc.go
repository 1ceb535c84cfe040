// Package flame renders profiles: as a flame graph, which is an SVG without
// other files, and as tables of the most expensive functions. It also renders
// the difference of two profiles.
//
// In a flame graph every function is a bar below its caller. The width of the
// bar is the cost of the function with all that it called. Where no bar is
// below it, the function itself had that cost. The order from left to right is
// alphabetic; it is not time.
package flame
