// Package upstreams configures upstreams, the pools of servers to which requests are forwarded. It has the types, the
// keys of a file with their mistakes, and the lists of servers outside of the configuration.
package upstreams

import "time"

// Upstream is a named pool of servers.
type Upstream struct {
	Name    string   // letters, digits, '.', '_' and '-'
	Servers []Server // at least one; all have the same path, and none occurs twice

	// List is the place of the servers outside of the configuration. Servers are then the
	// servers that were read with the configuration: none for a list in NATS.
	List List

	// HTTP2 selects HTTP/2: by ALPN for https servers, and by prior knowledge for others.
	HTTP2 bool

	// TLS configures the connections to https servers. Nil means the defaults.
	TLS *TLS

	// Balance is the policy by which requests choose a server: BalanceRoundRobin,
	// BalanceLeastConnections, BalanceTwoChoices or BalanceHash. Empty means BalanceRoundRobin.
	Balance string

	// HashBy is the part of a request that determines its server with BalanceHash:
	// HashByClient, HashByPath, or HashByHeader or HashByCookie and a name. Empty means
	// HashByClient, which also applies to requests without the field or the cookie.
	HashBy string

	// Sticky keeps each client at the server that its first request was sent to. Nil does not.
	Sticky *Sticky

	// SlowStart is the time in which the share of a server grows from nothing to its weight, after
	// the server was added or can be used again. Zero, the default, gives it the share at once.
	SlowStart time.Duration

	// Connections limits the requests at each server. The zero value sets no limit.
	Connections Limit

	// MaxResponseFields is the maximum number of header fields of a response. Zero
	// means 256, the default.
	MaxResponseFields int

	// ConnectWait is how long a request retries to connect if no server accepts
	// a connection. Zero fails without a retry. Default 1s.
	ConnectWait time.Duration

	Retry Retry

	// SendProxyProtocol is the version of the PROXY protocol, 1 or 2, whose header begins each
	// connection. Zero, the default, sends none.
	SendProxyProtocol int

	// Health and Outliers decide which servers get requests. Nil is none. A file without the
	// key has OutliersUnset.
	Health   *Health
	Outliers *Outliers
}

// Limit limits the requests at each server of an upstream.
type Limit struct {
	// Max is the number of requests that may be at a server at the same time. Over HTTP/1, it is
	// also the number of connections to the server. Zero is no limit.
	Max int

	Queue int           // number of requests that may wait for a server with less than Max; default none
	Wait  time.Duration // their maximum waiting time, more than zero; default 1s
}
