// Package eventpace limits the number of events about what may happen very often: Pace for the changes of one thing,
// Flood for what clients cause.
package eventpace
