package proxy

import "github.com/weirhq/weir/internal/proxying"

// A Policy determines the server that a request is sent to. After a failed attempt to connect, the
// policy chooses among the other servers.
type Policy uint8

// The policies. All of them observe the weights of the servers.
const (
	RoundRobin       = Policy(proxying.RoundRobin)       // the servers in turn
	LeastConnections = Policy(proxying.LeastConnections) // the server with the fewest requests in flight
	TwoChoices       = Policy(proxying.TwoChoices)       // of two random servers, the one with fewer requests in flight
	Hash             = Policy(proxying.Hash)             // always the same server for the same HashKey
)

// A HashKey is the part of a request that determines its server with the policy [Hash].
type HashKey struct {
	By   HashBy
	Name string // of the field or cookie
}

// HashBy is the kind of a [HashKey].
type HashBy uint8

// The kinds. A request without the field or the cookie, or with an empty one, has the key
// ByClient.
const (
	ByClient = HashBy(proxying.ByClient) // the address of the client, as trusted proxies report it, or its IPv6 /64
	ByPath   = HashBy(proxying.ByPath)   // the path of the target, without the query
	ByHeader = HashBy(proxying.ByHeader) // the value of the first header field with the name
	ByCookie = HashBy(proxying.ByCookie) // the value of the first cookie with the name
)

func (k HashKey) inner() proxying.HashKey {
	return proxying.HashKey{By: proxying.HashBy(k.By), Name: k.Name}
}
