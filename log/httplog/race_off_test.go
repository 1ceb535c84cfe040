//go:build !race

package httplog_test

const raceEnabled = false
