// Package text appends values in the notations of the event format: JSON
// strings, numbers and instants. Whatever writes events goes through it, so
// that there is one place that decides what a line may hold.
package text
