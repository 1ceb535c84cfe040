package limit

import (
	"math"
	"time"
)

// A Pace is the least rate at which a peer has to send or take the bytes of a
// message. It is kept as a deadline, of which the caller holds one for each
// peer: it begins at Start, and Next moves it on as bytes pass. A peer keeps
// pace as long as the deadline has not passed, so a read may simply be given
// that deadline.
//
//	deadline := pace.Start(time.Now())
//	for {
//		conn.SetReadDeadline(deadline)
//		n, err := conn.Read(p)
//		deadline = pace.Next(deadline, time.Now(), n)
//		...
//	}
//
// Bytes count when they pass: who sent a gigabyte in a second may not be silent
// for hours because his average is still good, but for Grace, as anyone else.
// And who trickles falls behind, however often the bytes come.
type Pace struct {
	// PerSecond is how many bytes have to pass in a second. 0: any pace is
	// kept, and all deadlines are the zero time, which for a net.Conn is none.
	PerSecond int64
	// Grace is how long a peer may be silent, at first and later; 0: 10 s.
	Grace time.Duration
}

const defaultGrace = 10 * time.Second

// Start returns the deadline of a peer of which nothing has passed yet.
func (p Pace) Start(now time.Time) time.Time {
	if p.PerSecond <= 0 {
		return time.Time{}
	}
	return now.Add(p.grace())
}

// Next returns the deadline that follows deadline when n more bytes have passed by now.
func (p Pace) Next(deadline, now time.Time, n int) time.Time {
	if p.PerSecond <= 0 {
		return time.Time{}
	}
	deadline, most := deadline.Add(p.Time(n)), now.Add(p.grace())
	if deadline.After(most) {
		return most
	}
	return deadline
}

// TooSlow tells whether a peer with this deadline has fallen behind.
func (p Pace) TooSlow(deadline, now time.Time) bool {
	return p.PerSecond > 0 && now.After(deadline)
}

// Time returns how long n bytes take a peer that just keeps pace. A write of n
// bytes returns when the last of them has passed, so its deadline is
// deadline.Add(pace.Time(n)).
func (p Pace) Time(n int) time.Duration {
	if p.PerSecond <= 0 || n <= 0 {
		return 0
	}
	return time.Duration(min(float64(n)/float64(p.PerSecond)*float64(time.Second), math.MaxInt64/2))
}

func (p Pace) grace() time.Duration {
	if p.Grace <= 0 {
		return defaultGrace
	}
	return p.Grace
}
