package replay

import (
	"errors"
	"time"
)

// A Request is one request of a log.
type Request struct {
	At     time.Duration // since the first request of the log
	Method string
	Host   string // "" if the log does not have it
	Target string // the path and the query, which can be sent as they are
}

// errOther is the error of a line that is well-formed and has no completed request.
var errOther = errors.New("no completed request")

// An entry is a request in the window.
type entry struct {
	Request
	began       time.Time
	wholeSecond bool // the log has no fractions of seconds
	line        int
}

// entries is a heap: the request that began first is first, and of two the one that was logged first.
type entries []entry

// Len implements heap.Interface.
func (e entries) Len() int { return len(e) }

// Swap implements heap.Interface.
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Less implements heap.Interface.
func (e entries) Less(i, j int) bool {
	if !e[i].began.Equal(e[j].began) {
		return e[i].began.Before(e[j].began)
	}
	return e[i].line < e[j].line
}

// Push implements heap.Interface.
func (e *entries) Push(x any) { *e = append(*e, x.(entry)) }

// Pop implements heap.Interface.
func (e *entries) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = entry{}
	*e = (*e)[:last]
	return x
}
