//go:build !race

package logr_test

const raceEnabled = false
