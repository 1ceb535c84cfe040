// Package flame shows profiles: as a flame graph, which is an SVG that needs
// nothing beside it, and as tables of the functions that take the most. Two
// profiles are shown as what has grown and what has shrunk.
//
// In a flame graph every function is a bar below the one that called it. It is
// as wide as what it and all that it called have taken; where nothing is below
// it, it took that itself. From left to right is the alphabet, not time.
package flame
