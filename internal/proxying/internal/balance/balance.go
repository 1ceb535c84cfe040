// Package balance chooses the server of an exchange. It knows neither requests nor connections.
//
// A [Set] is the servers of an upstream with their weights, and an [Order] is the order in which
// one exchange tries them. Each [Policy] has a file with the method of Order that chooses by it.
// docs/architecture.md has the recipe for a new one.
package balance

import "time"

// A Policy determines the server that an exchange is sent to.
type Policy uint8

const (
	RoundRobin Policy = iota
	LeastConnections
	TwoChoices
	Hash
)

// Settings are those of an upstream for its choices.
type Settings struct {
	Policy    Policy
	SlowStart time.Duration // 0 for none
	Max       int           // of the exchanges at a server; 0 for no limit
}
