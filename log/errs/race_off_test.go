//go:build !race

package errs_test

const raceEnabled = false
