//go:build !race

package log

// reportMisuse is true if calls on ended events are reported.
const reportMisuse = false
