package log

import (
	"slices"
	"time"
)

// A line holds the encoded text of one event. Its parts are in wire order; data
// is not closed yet.
//
//	created_at | namespace, event | trace_id | span_id | severity | http | auth | data
//
// created_at is written last. If it is shorter than its reserved bytes, the
// line begins later in buf. Part p begins at base+starts[p], for p up to last;
// later parts do not exist yet. Calls in wire order append to buf. Other calls
// move their part into place.
type line struct {
	buf    []byte
	base   int // offset after the name of the event
	starts [partCount]int
	last   part

	// The number of groups that stay open to the end of data, and for LTSV the
	// label prefix of these groups, with a dot after each name.
	groups int
	prefix []byte
}

// A part is a range of the line that can be replaced after later parts have
// been written.
type part uint8

const (
	partHead part = iota
	partTraceID
	partSpanID
	partSeverity // empty in LTSV, where the level is in the front
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

// open starts the text of part p, which replaces the old text of p. It returns
// the offset of the new text. The caller must append the text and call settle.
func (e *openEvent) open(p part) (mark int) {
	if p <= e.last {
		e.empty(p)
	} else {
		e.advance(p)
	}
	return len(e.buf)
}

// settle moves the bytes from mark to the end of buf to the place of part p.
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

// rotate moves the first n bytes of b to its end.
func rotate(b []byte, n int) {
	slices.Reverse(b[:n])
	slices.Reverse(b[n:])
	slices.Reverse(b)
}

// empty removes the text of part p, which must exist.
func (l *line) empty(p part) {
	from, to := l.base+l.starts[p], l.end(p)
	l.buf = slices.Delete(l.buf, from, to)
	for later := p + 1; later <= l.last; later++ {
		l.starts[later] -= to - from
	}
}

// end returns the offset of the end of part p, which must exist.
func (l *line) end(p part) int {
	if p == l.last {
		return len(l.buf)
	}
	return l.base + l.starts[p+1]
}

// advance starts the parts up to p, which must not exist yet. It writes the
// severity, which every event has, when it passes it. It also sets the offsets
// of some later parts: that costs less than a check, and they have no meaning
// until these parts exist.
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

var ltsvLevels = [...]string{"\tlevel:Debug", "\tlevel:Info", "\tlevel:Warn", "\tlevel:Error", "\tlevel:Fatal"}

func (e *openEvent) addSeverity() {
	if e.out.notation == notationJSON {
		e.buf = append(append(e.buf, severityLabel...), e.level.severity())
	}
}

// A stamp describes the created_at that the last event has left in the front of
// the buffer, without its fraction. Most events fall into the same second, and
// reuse it.
type stamp struct {
	second   int64
	notation notation
	usable   bool
}

// stampSecond makes the buffer begin with layout, with the date and the second
// from offset firstDigit on. It reports whether RFC 3339 can express the
// second.
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

// replaceFront puts another text in place of created_at. It returns the offset
// of the line's beginning.
func (e *openEvent) replaceFront(with string) int {
	body := e.buf[len(e.out.encoder.front()):]
	from := len(e.buf)
	e.buf = append(append(e.buf, with...), body...)
	return from
}

// A timer reads the time at half the cost of time.Now, which reads two clocks
// of the system. It reads the monotonic clock only, and adds the elapsed time
// to a base for which it has read both. The zero value is ready.
//
// Both clocks have the same speed, because the system adjusts them together. If
// the wall clock is set, the timer follows within syncEvery.
type timer struct {
	base   time.Time
	second int64 // base in seconds since 1970
	ns     int64 // base in nanoseconds since that second
}

const (
	syncEvery = time.Second // must not be longer: now carries over one second only

	// The system may run another thread for milliseconds between the two
	// clocks. A slower read is not used as base.
	longestRead = time.Microsecond
)

// now returns the seconds since 1970, and the nanoseconds of that second.
func (t *timer) now() (second int64, ns uint32) {
	passed := time.Since(t.base)
	// A negative duration becomes a very large number. Time can run backwards
	// in tests with a fake clock (testing/synctest).
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
