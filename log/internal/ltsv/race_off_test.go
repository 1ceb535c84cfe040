//go:build !race

package ltsv_test

const raceEnabled = false
