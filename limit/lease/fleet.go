package lease

import (
	"strings"
	"sync/atomic"
	"time"
)

const (
	leastPeriod = 50 * time.Millisecond // between two exchanges of a lease with an empty bucket
	mostPeriod  = time.Second
	ofReplica   = 5 * time.Millisecond // of the period, for each replica
	leastPart   = 0.5                  // of the rate, for all replicas in equal parts whatever their demand
	margin      = ShareTTL / 10        // of the end of a share, by the clock of the replica
)

// A fleet has what a replica knows of its fleet. All times are those since began. Any goroutine
// may call its methods, except left.
type fleet struct {
	name, replica  string
	began          time.Time
	replicas       atomic.Int64 // at least 1
	heard          atomic.Int64 // the time of the last response to Join; 0 for none
	down           atomic.Bool  // only Join is called
	grantedLocally atomic.Int64 // tokens

	members Join // the last results of Join; the goroutine of the Leaser has it
}

// key returns a key of the store. A name must not have braces: a cluster would choose the node
// by the text in them.
func (f *fleet) key(kind, name string) string {
	return "weir:" + braces.Replace(f.name+":"+kind+":"+name)
}

var braces = strings.NewReplacer("{", "(", "}", ")")

// period returns the time between two exchanges of a lease whose bucket is nearly empty.
func (f *fleet) period() time.Duration {
	return min(max(time.Duration(f.replicas.Load())*ofReplica, leastPeriod), mostPeriod)
}

// least returns the part of a rate that a replica has without a share.
func (f *fleet) least() float64 {
	n := f.replicas.Load()
	if n == 1 {
		return 1
	}
	return leastPart / float64(n)
}

// gone reports whether the shares of the replica have ended, so that the others leave it an equal
// part.
func (f *fleet) gone(now time.Duration) bool {
	heard := time.Duration(f.heard.Load())
	return heard == 0 || now-heard > ShareTTL+margin
}

// left returns the part of a rate to leave to absent replicas.
func (f *fleet) left() float64 {
	j := &f.members
	return f.least()*float64(j.Absent-j.Gone) + float64(j.Gone)/float64(f.replicas.Load())
}

func (f *fleet) now() time.Duration { return time.Since(f.began) }
