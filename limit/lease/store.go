package lease

import (
	"context"
	"time"
)

// A Store keeps the limits that replicas share. Goroutines may share it. A call ends with an
// error if the store does not respond for a fraction of a second. Such a call may have been applied,
// and a replica then repeats it with newer values.
type Store interface {
	// Exchange settles the tokens of buckets and sets the results of each [Exchange], or its
	// Err. An error means that the store could not be reached, or did not respond; a part of
	// the batch may have been settled.
	Exchange(ctx context.Context, batch []Exchange) error

	// Hold registers the use of slots by a replica and sets the results of h.
	Hold(ctx context.Context, h *Hold) error

	// Join registers a replica and sets the results of j.
	Join(ctx context.Context, j *Join) error

	// Close closes the connections.
	Close() error
}

// An Exchange takes tokens from a bucket for a lease, or returns some. The bucket is one of the
// generic cell rate algorithm, stored as the time at which it will be full. A bucket that does not
// exist is full.
//
// The store keeps the tokens that each lease has taken, so that an exchange that is repeated takes
// nothing twice. It also keeps the share of each lease, and takes tokens for it all the time: a
// replica that is cut off uses these. The next exchange returns the tokens that it has not used.
// The store gives a share up ShareTTL after the last exchange.
type Exchange struct {
	Key   string        // of the bucket
	Every time.Duration // in which a token is added
	Fill  time.Duration // in which an empty bucket becomes full

	Replica string
	Lease   int64 // the number of the lease in its replica

	// Taken is the number of tokens that the lease has taken since it was made, as far as the
	// replica knows. The store ignores it if it knows the lease. The result is the new number.
	Taken int64
	// Used is the number of these that were used. It exceeds Taken by tokens that were used
	// on credit, which are taken also if the bucket becomes overdrawn.
	Used int64
	Want int64 // number of unused tokens to have, at most

	Weight float64 // demand for which the lease gets a share, in requests per second; 0 is none
	Share  float64 // of the replica before the exchange; the result is that after it

	Replicas int     // of the fleet
	Least    float64 // the share of a replica without a lease
	Left     float64 // part of the rate to leave to replicas that are absent and have no share

	// The other results:
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
	Want    int           // slots in use, and slots that waiting requests need
	TTL     time.Duration // after which the slots are free again, unless the replica calls once more
	Left    int           // slots to leave to absent replicas
	Granted int           // slots that the replica may use; the result is the new number, at least 1
}

// A Join registers a replica with a fleet, or removes it. A new replica replaces the replica that
// has been absent for the longest time, if there is one.
type Join struct {
	Key     string // of the fleet
	Replica string
	Leave   bool          // the replica ends
	Silent  time.Duration // since the last response of the store

	// The results:
	Replicas int // of the fleet, including absent replicas
	Absent   int // other replicas that have had no response for AbsentTime
	Gone     int // of these, for ShareTTL
}

// The times after which the store notices that a replica has not called it, or has had no
// response.
const (
	AbsentTime = 5 * time.Second
	ShareTTL   = time.Minute // of the share of a lease
	ReplicaTTL = time.Hour
)
