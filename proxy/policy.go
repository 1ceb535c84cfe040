package proxy

// A Policy determines the server that an exchange is sent to. After a failed attempt to connect,
// the policy chooses among the other servers.
type Policy uint8

// The policies. All of them observe the weights of the servers.
const (
	RoundRobin       Policy = iota // the servers in turn
	LeastConnections               // the server with the fewest exchanges in flight
	TwoChoices                     // of two random servers, the one with fewer exchanges in flight
	Hash                           // always the same server for the same HashKey
)
