//go:build race

package analysis

const underRace = true
