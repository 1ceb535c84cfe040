package otlpsink

// Lines repeat parts of earlier lines of their batch: the events of a request have the same method,
// host and path, and many requests have the same client. The functions of this file copy the
// encoding of such a part, which costs less than reading its members again.

// A passage is a part of a line and its encoding. The zero value is not one.
type passage struct {
	start
	end int // offset in the batch
	to  int // offset in the request
}

// A start is the beginning of a passage.
type start struct {
	begin int // offset in the batch
	from  int // offset in the request
}

func (s start) exists() bool { return s.from > 0 }

// An opening is the beginning of a line after its time: namespace and event.
type opening struct {
	passage
	namespace []byte
}

// repeats are the parts of a batch that later lines may repeat.
type repeats struct {
	lines []byte // the batch
	line  int    // the offset of the current line

	openings [4]opening  // the last ones
	next     int         // the index in openings that is replaced next
	targets  [64]passage // of http: from method to started_at, by trace id
	host     passage     // the last one of http: from method to port
	client   passage     // the last end of http: from route on
	data     passage     // the last end of a line that has only data after http

	traceID []byte   // the last one that is an id of W3C Trace Context; empty if there is none
	trace   [16]byte // its value
}

// target returns the place for the target of a trace. Traces can have the same place.
func (r *repeats) target(traceID []byte) *passage {
	n := len(traceID)
	if n == 0 {
		return &r.targets[0]
	}
	return &r.targets[(traceID[n-1]+traceID[n/2]<<3)%byte(len(r.targets))]
}

func (r *repeats) addOpening(o opening) {
	r.openings[r.next] = o
	r.next = (r.next + 1) % len(r.openings)
}

// forget forgets all passages, because their encoding has changed.
func (r *repeats) forget() { *r = repeats{lines: r.lines, line: r.line, traceID: r.traceID[:0]} }

// here returns the beginning of a passage at the current offsets.
func (e *encoder) here() start { return start{e.repeats.line + e.at, len(e.rec)} }

// since returns the passage that begins at s and ends here.
func (e *encoder) since(s start) passage { return passage{s, e.repeats.line + e.at, len(e.rec)} }

// repeat copies a passage of an earlier line, if the line continues with its text, and reports
// whether it does. The byte after the passage must be the same too, because it ends a number.
func (e *encoder) repeat(p *passage) bool {
	lines, rest, n := e.repeats.lines, e.src[e.at:], p.end-p.begin
	if !p.exists() || len(rest) < n || string(rest[:n]) != string(lines[p.begin:p.end]) ||
		len(rest) > n && rest[n] != lines[p.end] {
		return false
	}
	e.rec = append(e.rec, e.rec[p.from:p.to]...)
	e.at += n
	return true
}

// repeatOpening copies the beginning of the line, if an earlier line has the same, and reports whether
// there is one.
func (e *encoder) repeatOpening() bool {
	for i := range e.repeats.openings {
		if o := &e.repeats.openings[i]; e.repeat(&o.passage) {
			e.namespace = o.namespace
			return true
		}
	}
	return false
}
