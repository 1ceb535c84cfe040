// Package chart has the axes of charts: the places of values on them, and the
// round numbers that label them.
package chart
