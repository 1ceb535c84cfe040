//go:build !race

package otellog_test

const raceEnabled = false
