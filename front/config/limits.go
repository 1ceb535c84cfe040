package config

import "time"

// Limits says what the door lets in: the limits of all requests together,
// and of the connections that they come on.
type Limits struct {
	RequestLimits

	// Headers is how many bytes the head of a request may have: 8 KiB to
	// 64 KiB, the default.
	Headers int

	// HeaderTimeout is how long a client may take to send a head, default 10s,
	// and IdleTimeout how long a connection may be unused, default 75s. Zero
	// means the default.
	HeaderTimeout, IdleTimeout time.Duration

	// MaxConnections is how many connections of clients may be open. Zero, the
	// default, is as many as the limit of open files allows, and more than that
	// is never let in.
	MaxConnections int

	// ConnectionsPerClient is how many of them may come from one address, or
	// one /64 of IPv6; trusted proxies may have any number. Zero, the default,
	// is any number for everybody.
	ConnectionsPerClient int
}

// RequestLimits hold for all requests together, or for those of a route, which
// are held to both. The two may differ in InFlight, Queue and Rate: the door's
// are counted for all, the route's for itself. Of the others a route has the
// door's where it says 0; NoLimit is none.
type RequestLimits struct {
	InFlight int // requests served at once. Zero sets no limit but the one that follows from open files
	Queue    Queue
	Rate     Rate

	Body int64 // bytes of a request's body

	// UploadRate and DownloadRate are how many bytes a second a client has to
	// send or take while it is waited for, on the average. It may fall behind
	// by as much as ReadTimeout and WriteTimeout, which are thus also how long
	// it may pause.
	UploadRate, DownloadRate  int64
	ReadTimeout, WriteTimeout time.Duration
}

// MaxHeaders is the greatest value of [Limits.Headers], and its default.
const MaxHeaders = 64 << 10

// NoLimit is the value of a limit that is not to hold.
const NoLimit = -1

// Queue is about the requests that wait to be served when InFlight are.
type Queue struct {
	Length int           // how many; 0, the default, refuses at once
	Wait   time.Duration // how long each of them; default 1s
}

// Rate allows Burst requests at once, and then one Every so often, for
// each key. A zero Every sets no limit.
type Rate struct {
	Per   string // RatePerClient (the default), RatePerRoute, or RatePerHeader and a header's name
	Every time.Duration
	Burst int // at least 1, the default
}

// Values of [Rate.Per].
const (
	RatePerClient = "client"  // the client's address behind trusted proxies, or its /64 of IPv6
	RatePerRoute  = "route"   // all requests have one rate
	RatePerHeader = "header " // the value of the header that follows; requests without it share one rate
)

// defaultLimits is what a file may leave out.
func defaultLimits() Limits {
	return Limits{
		RequestLimits: RequestLimits{
			UploadRate: 500, DownloadRate: 500,
			ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute,
		},
		Headers:       MaxHeaders,
		HeaderTimeout: 10 * time.Second,
		IdleTimeout:   75 * time.Second,
	}
}
