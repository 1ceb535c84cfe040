// Package limit compares the rates of Weir with golang.org/x/time/rate: their decisions and their
// cost.
package limit
