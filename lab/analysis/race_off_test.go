//go:build !race

package analysis

const underRace = false
