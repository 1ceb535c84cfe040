package latencies

import (
	"math"
	"time"
)

// Never is the time of a request that was never answered. It is longer than all others.
const Never = time.Duration(math.MaxInt64)

// An Order is the requests sorted by their times: first those answered and those given
// up, then the requests that were never answered.
type Order struct {
	Answered *Distribution
	Finite   *Distribution // answered and given up; the same as answered if none was given up
	Never    int64         // requests that were never answered
}

// Count returns the number of requests.
func (o *Order) Count() int64 { return o.Finite.Count() + o.Never }

// Whole reports whether each request was answered.
func (o *Order) Whole() bool { return o.Never == 0 && o.Finite.Count() == o.Answered.Count() }

// At returns the time at a percentage, and whether it is a lower bound, because the
// unknown time of a request that was given up would change it. Without requests it is 0.
func (o *Order) At(percentage float64) (value time.Duration, atLeast bool) {
	n := o.Count()
	if n == 0 {
		return 0, false
	}
	rank := Rank(percentage, n)
	if rank > o.Finite.Count() {
		return Never, false
	}
	ns := o.Finite.ranked(rank)
	atLeast = !o.Whole() && (rank > o.Answered.Count() || o.Answered.ranked(rank) != ns)
	return time.Duration(min(max(ns, o.Finite.Min), o.Finite.Max)), atLeast // a bucket may extend beyond both
}

// Rank returns the rank, from 1, of a percentile of n sorted times: n·percentage/100, rounded
// up, as in HdrHistogram for Java since 2.1.10. At least this percentage of the times is no
// longer. With one failure among 60 requests, p99 is the failure.
func Rank(percentage float64, n int64) int64 {
	const rounding = 1e-12 // 99.9/100*1000 is above 999 in floating point
	return min(max(int64(math.Ceil(percentage/100*float64(n)*(1-rounding))), 1), n)
}
