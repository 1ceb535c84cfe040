//go:build !race

package log_test

const raceEnabled = false
