//go:build !race

package response_test

const raceEnabled = false
