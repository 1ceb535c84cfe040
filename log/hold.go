package log

import "sync"

// DefaultHoldBytes is the limit of a [Hold] if its Bytes are zero.
const DefaultHoldBytes = 32 << 10

// A Hold holds the events of one piece of work, such as a request, until it is known whether they are worth writing.
// Package httplog has one for each request. The events of a logger are held if it was made with [Event.Hold]:
//
//	hold := log.Hold{Counts: &counts}
//	ctx = log.Into(ctx, logger.With().Hold(&hold).Logger())
//
// End the work with Write or Discard. Before that, an event of [LevelWarn] or worse has the effect of Write: it is
// written at once, and after the events that led to it. Events after the end are written at once too, such as those of
// a goroutine that continues. Events that are still held when the process ends are lost.
//
// Any number of goroutines may use a Hold. It must not be copied after the first event.
type Hold struct {
	// Bytes limits the lines that are held. When they have so many bytes, the older half of them is discarded. Zero means
	// DefaultHoldBytes.
	Bytes int

	// Counts counts the events. Several Holds share it. Nil counts nothing.
	Counts *HoldCounts

	mu    sync.Mutex // guards the fields below; held while the lines are written
	lines *heldLines // nil before the first event, and after the end
	lost  int        // events that were discarded because there were too many
	ended bool
}

// Hold makes h hold the event when it is sent, or in [Logger.With] the events of the new Logger. A nil h means that Send
// writes the event, also if its logger holds events.
func (e Event) Hold(h *Hold) Event {
	if e.isOpen() && e.open.depth == 0 {
		e.open.hold = h
	}
	return e
}

// Write ends the work and writes the held events. It returns the number of events that are missing, because there were
// too many to hold all.
func (h *Hold) Write() (missing int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(true)
	return h.lost
}

// Discard ends the work and discards the held events.
func (h *Hold) Discard() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(false)
}

// end ends the work unless it has ended. h.mu is held.
func (h *Hold) end(write bool) {
	h.ended = true
	if h.lines == nil {
		return
	}
	lines := h.lines
	h.lines = nil
	if n := lines.count(); write {
		h.Counts.add(-n, 0)
		lines.write()
	} else {
		h.Counts.add(-n, n)
	}
	lines.recycle()
}

// put holds a line, or writes it. A nil h writes it.
func (h *Hold) put(out *output, level Level, line []byte) {
	if h == nil || !h.take(out, level, line) {
		out.write(level, line)
	}
}

// take holds a line unless the work has ended, and reports whether it does.
func (h *Hold) take(out *output, level Level, line []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if level >= LevelWarn {
		h.end(true)
	}
	if h.ended {
		return false
	}
	if h.lines == nil {
		h.lines = heldPool.Get().(*heldLines)
	}
	limit := h.Bytes
	if limit <= 0 {
		limit = DefaultHoldBytes
	}
	lost := h.lines.add(limit/2, out, level, line)
	h.lost += lost
	h.Counts.add(1-lost, lost)
	return true
}

// heldLines are the lines of a Hold in two halves, so that the oldest can be discarded without moving the others.
type heldLines struct{ older, newer heldHalf }

var heldPool = sync.Pool{New: func() any { return new(heldLines) }}

// add adds a line, and discards the older half if the newer one has no room left. A line that is longer than a half is
// held by itself. It returns the number of discarded lines.
func (l *heldLines) add(half int, out *output, level Level, line []byte) (discarded int) {
	if n := len(l.newer.text); n > 0 && n+len(line) > half {
		l.older, l.newer = l.newer, l.older
		discarded = len(l.newer.lines)
		l.newer.recycle()
	}
	l.newer.text = append(l.newer.text, line...)
	l.newer.lines = append(l.newer.lines, heldLine{out, level, len(l.newer.text)})
	return discarded
}

func (l *heldLines) count() int { return len(l.older.lines) + len(l.newer.lines) }

func (l *heldLines) write() {
	l.older.write()
	l.newer.write()
}

func (l *heldLines) recycle() {
	l.older.recycle()
	l.newer.recycle()
	heldPool.Put(l)
}

// A heldHalf has the text of several lines.
type heldHalf struct {
	text  []byte
	lines []heldLine
}

// A heldLine ends at an offset of the text, where the next one begins.
type heldLine struct {
	out   *output
	level Level
	end   int
}

func (h *heldHalf) write() {
	from := 0
	for _, line := range h.lines {
		line.out.write(line.level, h.text[from:line.end])
		from = line.end
	}
}

func (h *heldHalf) recycle() {
	recycle(&h.text)
	clear(h.lines) // of their outputs
	if h.lines = h.lines[:0]; cap(h.lines) > maxHeldLines {
		h.lines = nil
	}
}

// maxHeldLines limits the lines for which memory is kept.
const maxHeldLines = 1024
