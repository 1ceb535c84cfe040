package record

import "github.com/weirhq/weir/load/internal/failure"

// A WarmUp counts the requests of the warm-up, which are due before 0. In the closed loop a request is due when it is
// claimed. They are in no other measurement.
type WarmUp struct {
	Asked, Sent, Answered, Failed int64
}

// A Tally has the counters of a thread, or of all threads.
type Tally struct {
	Sent, Answered, Failed, Unanswered int64
	SentInTime                         int64 // sent before the end
	InTime                             int64 // answered before the end
	Read, Written                      int64 // bytes
	ReadInTime                         int64
	Skipped, NoConnection, Ended       int64 // unsent
	LateConnections, LateGenerator     int64
	Asked                              int64
	ErrorsInTime                       int64     // failed before the end: requests, and connections
	Classes                            [10]int64 // answered, by the status's first digit

	WarmUp WarmUp

	Connections, Made int64 // open now, and made in total
	Most              int64 // the most that were open at the same time
	Failures          failure.Counts
}

// add adds the tally of another thread.
func (t *Tally) add(u *Tally) {
	t.Sent += u.Sent
	t.Answered += u.Answered
	t.Failed += u.Failed
	t.Unanswered += u.Unanswered
	t.SentInTime += u.SentInTime
	t.InTime += u.InTime
	t.Read += u.Read
	t.Written += u.Written
	t.ReadInTime += u.ReadInTime
	t.Skipped += u.Skipped
	t.NoConnection += u.NoConnection
	t.Ended += u.Ended
	t.LateConnections += u.LateConnections
	t.LateGenerator += u.LateGenerator
	t.Asked += u.Asked
	t.ErrorsInTime += u.ErrorsInTime
	for class, n := range u.Classes {
		t.Classes[class] += n
	}
	t.WarmUp.Asked += u.WarmUp.Asked
	t.WarmUp.Sent += u.WarmUp.Sent
	t.WarmUp.Answered += u.WarmUp.Answered
	t.WarmUp.Failed += u.WarmUp.Failed
	t.Connections += u.Connections
	t.Made += u.Made
	t.Most += u.Most
	t.Failures.Merge(&u.Failures)
}

// Unsent returns the number of requests that were asked for and not sent.
func (t *Tally) Unsent() int64 { return t.Skipped + t.NoConnection + t.Ended }
