package proxying

import (
	"net/netip"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying/internal/balance"
)

// A Policy determines the server that an exchange is sent to. After a failed attempt to connect,
// the policy chooses among the other servers.
type Policy balance.Policy

// The policies. All of them observe the weights of the servers.
const (
	RoundRobin       = Policy(balance.RoundRobin)       // the servers in turn
	LeastConnections = Policy(balance.LeastConnections) // the server with the fewest exchanges in flight
	TwoChoices       = Policy(balance.TwoChoices)       // of two random servers, the one with fewer exchanges in flight
	Hash             = Policy(balance.Hash)             // always the same server for the same HashKey
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
	ByClient HashBy = iota // the address of the client, as trusted proxies report it, or its IPv6 /64
	ByPath                 // the path of the target, without the query
	ByHeader               // the value of the first header field with the name
	ByCookie               // the value of the first cookie with the name
)

// String returns a description of the key, as in "cookie session".
func (k HashKey) String() string {
	switch k.By {
	case ByPath:
		return "path"
	case ByHeader:
		return "header " + k.Name
	case ByCookie:
		return "cookie " + k.Name
	default:
		return "client"
	}
}

// hash returns the hash of the key of a request. It is the same in all processes.
func (k *HashKey) hash(header []Field, target string, client netip.Addr) uint64 {
	text := ""
	switch k.By {
	case ByPath:
		text, _, _ = strings.Cut(target, "?")
	case ByHeader:
		for i := range header {
			if httpsyntax.EqualFold(header[i].Name, k.Name) {
				text = header[i].Value
				break
			}
		}
	case ByCookie:
		FindCookie(header, func(name, value string) bool {
			if name == k.Name {
				text = value
			}
			return text != ""
		})
	}
	if text != "" {
		return xxhash.Sum64String(text)
	}
	if client.Is6() {
		network, _ := client.Prefix(clientBits)
		client = network.Addr()
	}
	address := client.As16()
	return xxhash.Sum64(address[:])
}

// clientBits is the length of an IPv6 prefix that is one client.
const clientBits = 64

// ServerLimit limits the exchanges at each server of an upstream. The zero value sets no limit.
type ServerLimit struct {
	// Max is the number of exchanges that may be at a server at the same time. Over HTTP/1, it is
	// also the number of connections to the server, including unused ones. 0 is no limit.
	Max int

	// Queue is the number of exchanges that may wait until a server has a free place. Others fail
	// with kind QueueFull.
	Queue int

	// Wait is the longest time that an exchange waits. It then fails with kind QueueTimeout.
	Wait time.Duration
}
