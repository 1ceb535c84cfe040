package lease

import (
	"context"
	"time"
)

// A Store keeps the limits that replicas share. Goroutines may share it. A call ends with an
// error if the store does not respond for a fraction of a second.
type Store interface {
	// Exchange settles the tokens of buckets and sets the results of each [Exchange], or its
	// Err. An error means that the store could not be reached, or did not respond; a part of
	// the batch may have been settled.
	Exchange(ctx context.Context, batch []Exchange) error

	// Hold registers the use of slots by a replica and sets the results of h.
	Hold(ctx context.Context, h *Hold) error

	// Join registers a replica for the time ttl, and returns the number of replicas that are
	// registered with the same key. Zero for ttl removes the replica.
	Join(ctx context.Context, key, replica string, ttl time.Duration) (replicas int, err error)

	// Close closes the connections.
	Close() error
}

// An Exchange takes tokens from a bucket, or returns some. The bucket is one of the generic
// cell rate algorithm, stored as the time at which it will be full. A bucket that does not
// exist is full.
type Exchange struct {
	Key   string        // of the bucket
	Every time.Duration // in which a token is added
	Fill  time.Duration // in which an empty bucket becomes full

	// Used is the number of tokens that were used before they were taken. They are taken also
	// if the bucket becomes overdrawn. Want is the number to take in addition, at most; if it
	// is negative, tokens are returned.
	Used, Want int64

	// The results:
	Taken     int64         // Used, and as many of Want as there were
	Remaining int64         // tokens left in the bucket
	Reset     time.Duration // until the bucket is full
	Retry     time.Duration // until the bucket has a token
	Total     int64         // tokens that were taken since the bucket was made, by all replicas
	Err       error
}

// A Hold registers how many slots of a limit of requests in flight a replica uses and how many
// it wants.
type Hold struct {
	Key     string // of the limit
	Replica string
	Max     int           // slots of all replicas together
	Used    int           // slots in use
	Want    int           // slots in use, and those that waiting requests need
	TTL     time.Duration // after which the slots are free again, unless the replica calls once more
	Granted int           // the result: slots that the replica may use, at least 1
}
