//go:build race

package report_test

const underRace = true
