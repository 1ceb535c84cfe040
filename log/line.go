package log

import (
	"slices"
	"time"
)

// A line is the text of an event, its parts always in the order of the wire,
// up to and without what closes data:
//
//	created_at | namespace, event | trace_id | span_id | severity | http | auth | data
//
// created_at is known last; where it is shorter than mostly, the line begins
// later in buf. Part p begins starts[p] bytes behind base for p up to last;
// those after last are not begun. Calls in the order of the wire append, others
// move their part into place.
type line struct {
	buf    []byte
	base   int // where the name of the event has ended
	starts [partCount]int
	last   part

	// Groups that stay open to the end of data, and the labels that they put
	// before those of LTSV, each with its dot.
	groups int
	prefix []byte
}

// A part is a stretch of the line that is found again after others were
// written.
type part uint8

const (
	partHead part = iota
	partTraceID
	partSpanID
	partSeverity // in LTSV it is empty: the level stands at the front
	partHTTP
	partAuth
	partData
	partCount
)

func (l *line) recycle() {
	l.last, l.groups = partHead, 0
	recycle(&l.buf)
	recycle(&l.prefix)
}

// open prepares for part p, which replaces what p held, and returns where its
// bytes begin; settle must follow.
func (e *openEvent) open(p part) (mark int) {
	if p <= e.last {
		e.empty(p)
	} else {
		e.advance(p)
	}
	return len(e.buf)
}

// settle moves the bytes from mark on, the newest, to where part p stands.
func (l *line) settle(p part, mark int) {
	if p == l.last {
		return
	}
	next := l.base + l.starts[p+1]
	rotate(l.buf[next:], mark-next)
	for later := p + 1; later <= l.last; later++ {
		l.starts[later] += len(l.buf) - mark
	}
}

// rotate moves the first n bytes of b behind the others.
func rotate(b []byte, n int) {
	slices.Reverse(b[:n])
	slices.Reverse(b[n:])
	slices.Reverse(b)
}

// empty removes what part p, which is begun, holds.
func (l *line) empty(p part) {
	from, to := l.base+l.starts[p], l.end(p)
	l.buf = slices.Delete(l.buf, from, to)
	for later := p + 1; later <= l.last; later++ {
		l.starts[later] -= to - from
	}
}

// end returns where part p, which is begun, ends.
func (l *line) end(p part) int {
	if p == l.last {
		return len(l.buf)
	}
	return l.base + l.starts[p+1]
}

// advance begins the parts up to p, which is not begun. The severity, which
// every event has, is written when it is passed. Parts beyond p are given a
// beginning, too, which costs less than to ask and means nothing until they are
// begun.
func (e *openEvent) advance(p part) {
	at := len(e.buf) - e.base
	switch e.last {
	case partHead:
		e.starts[partTraceID] = at
		fallthrough
	case partTraceID:
		e.starts[partSpanID] = at
		fallthrough
	case partSpanID:
		e.starts[partSeverity] = at
		if p < partSeverity {
			break
		}
		e.addSeverity()
		at = len(e.buf) - e.base
		fallthrough
	case partSeverity:
		e.starts[partHTTP] = at
		fallthrough
	case partHTTP:
		e.starts[partAuth] = at
		fallthrough
	case partAuth:
		e.starts[partData] = at
	}
	e.last = p
}

const severityLabel = `,"severity":`

func (e *openEvent) addSeverity() {
	if e.out.notation == notationJSON {
		e.buf = append(append(e.buf, severityLabel...), e.level.severity())
	}
}

// A stamp says what the front of an event's buffer holds from the event
// before: created_at, all but the fraction of its second, which mostly is the
// same second again.
type stamp struct {
	second   int64
	notation notation
	usable   bool
}

// stampSecond sees to it that the buffer begins with layout, in which the
// instant begins at firstDigit and its second is the given one. It reports
// whether RFC 3339 can hold that.
func (e *openEvent) stampSecond(layout string, firstDigit int, second int64) bool {
	wanted := stamp{second, e.notation, true}
	if e.stamp == wanted {
		return true
	}
	text := e.clock.Second(second)
	if text == nil {
		return false
	}
	if !e.stamp.usable {
		copy(e.buf, layout)
	}
	copy(e.buf[firstDigit:], text[:])
	e.stamp = wanted
	return true
}

// replaceFront puts another text where created_at stands and returns where the
// line begins.
func (e *openEvent) replaceFront(with string) int {
	body := e.buf[len(e.out.encoder.front()):]
	from := len(e.buf)
	e.buf = append(append(e.buf, with...), body...)
	return from
}

// A timer tells the time at half the price of time.Now, which reads two clocks
// of the system: it reads the monotonic one alone and adds what has passed to
// an instant for which it knows both. The zero value is ready.
//
// The two run alike: what adjusts the speed of one adjusts that of the other.
// When somebody sets the wall clock, a timer follows within syncEvery.
type timer struct {
	base   time.Time
	second int64 // base, since 1970
	ns     int64 // base, since that second
}

const (
	syncEvery = time.Second // at most: now carries over to the next second once

	// Between the two clocks the system may run something else for
	// milliseconds; what took longer than this to read is no base.
	longestRead = time.Microsecond
)

// now returns the seconds since 1970, and the nanoseconds since that second.
func (t *timer) now() (second int64, ns uint32) {
	passed := time.Since(t.base)
	// Negative once converted is very large: in tests with a clock of their
	// own (testing/synctest), time does run backwards.
	if uint64(passed) >= uint64(syncEvery) {
		return t.sync()
	}
	if since := t.ns + int64(passed); since < int64(time.Second) {
		return t.second, uint32(since)
	} else {
		return t.second + 1, uint32(since - int64(time.Second))
	}
}

// sync reads both clocks.
func (t *timer) sync() (second int64, ns uint32) {
	before := time.Now()
	now := time.Now()
	second, ns = now.Unix(), uint32(now.Nanosecond())
	if now.Sub(before) <= longestRead {
		t.base, t.second, t.ns = now, second, int64(ns)
	}
	return second, ns
}
