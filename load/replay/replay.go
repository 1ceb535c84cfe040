// Package replay reads the requests of a log, in the order and at the times at which they began.
//
// A [Log] reads lines of several formats, also mixed: the events of Weir (JSON and LTSV), the combined format of nginx and
// Apache, and the JSON of Caddy. It is read as a stream. Servers write a line at the end of a request, so that lines are
// not in the order in which the requests began: a Log sorts them within a window.
package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options are the options of a Log.
type Options struct {
	Name string // of the file, for messages

	// AllMethods returns the requests of all methods. Otherwise only those of safe methods are returned: GET, HEAD and
	// OPTIONS.
	AllMethods bool
}

const (
	// window is how long after its beginning a request may be logged, by the times of the log.
	window = time.Minute

	// mostWaiting limits the requests in the window. Each needs about 200 bytes.
	mostWaiting = 100_000
)

// A Log is a log that is read. Open returns one. Goroutines must not share it, but may call Counts at any time.
type Log struct {
	options Options
	in      *bufio.Reader
	file    io.Closer // nil if it is not closed
	line    int
	ended   bool

	waiting entries
	newest  time.Time // of all lines so far
	first   time.Time // the time of the first request
	last    time.Duration
	ready   []Request // the next requests, sorted
	at      int       // of ready

	mu     sync.Mutex // guards counts
	counts Counts
}

// Counts has the numbers of lines so far.
type Counts struct {
	Lines      int64
	Requests   int64 // that were returned
	Others     int64 // events that are not the end of a request, and comments
	Unsafe     int64 // of methods that are left out
	Unreadable int64
	Redacted   int64 // requests that were returned, with a value that the log does not have
	Displaced  int64 // requests that were logged more than a minute after they began; they are returned late

	// FirstUnreadable is the first mistake, with the file and the line.
	FirstUnreadable string
}

// Open reads the beginning of a log, which may be compressed with gzip. It returns an error if there is no request.
func Open(in io.Reader, o Options) (*Log, error) {
	l := &Log{options: o, in: bufio.NewReaderSize(in, 64<<10)}
	l.file, _ = in.(io.Closer)
	if magic, _ := l.in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(l.in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		l.in = bufio.NewReaderSize(unzipped, 64<<10)
	}
	if err := l.fill(); err != nil {
		return nil, err
	}
	if len(l.ready) == 0 {
		return nil, l.none()
	}
	return l, nil
}

// Name returns the name of the file.
func (l *Log) Name() string { return l.options.Name }

// Close closes the file, if Open got one. It may be called during Next.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// formats lists the formats for error messages.
const formats = "JSON and LTSV of weir, the combined format of nginx and Apache, and JSON of Caddy"

// none explains why a log has no request.
func (l *Log) none() error {
	c := l.counts
	switch {
	case c.Unreadable > 0:
		return fmt.Errorf("%s has no request in a known format (%s); %s", l.options.Name, formats, c.FirstUnreadable)
	case c.Unsafe > 0:
		return fmt.Errorf("%s has only requests of methods that change something (%d)", l.options.Name, c.Unsafe)
	case c.Lines == 0:
		return fmt.Errorf("%s is empty", l.options.Name)
	}
	return fmt.Errorf("%s has no completed request in %d lines", l.options.Name, c.Lines)
}

// Counts returns the numbers of lines so far.
func (l *Log) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Beginning returns the requests that Open has read, and are sorted. Next returns them, too.
func (l *Log) Beginning() []Request {
	all := slices.Clone(l.ready[l.at:])
	for _, e := range l.waiting {
		all = append(all, e.Request)
	}
	return all
}

// Next returns the next request. The error is [io.EOF] after the last one.
func (l *Log) Next() (Request, error) {
	if l.at == len(l.ready) {
		if err := l.fill(); err != nil {
			return Request{}, err
		}
		if len(l.ready) == 0 {
			return Request{}, io.EOF
		}
	}
	r := l.ready[l.at]
	l.at++
	l.note(func(c *Counts) {
		c.Requests++
		if redacted(r.Target) {
			c.Redacted++
		}
	})
	return r, nil
}

// redacted reports whether the logger has replaced a value of the query.
func redacted(target string) bool {
	return strings.Contains(target, "[redacted]") || strings.Contains(target, "%5Bredacted%5D") ||
		strings.Contains(target, "=REDACTED")
}

func (l *Log) note(change func(*Counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.counts)
}

// fill reads lines until the first request of the window can be returned, and moves it to ready with those of its time.
func (l *Log) fill() error {
	l.ready, l.at = l.ready[:0], 0
	for !l.ended && !l.full() {
		line, err := l.readLine()
		switch {
		case err == io.EOF:
			l.ended = true
		case err != nil:
			return fmt.Errorf("%s:%d: %w", l.options.Name, l.line, err)
		default:
			l.add(line)
		}
	}
	if len(l.waiting) == 0 {
		return nil
	}
	if l.first.IsZero() {
		l.first = l.waiting[0].began
	}
	l.release()
	return nil
}

// full reports whether the first request of the window can be returned.
func (l *Log) full() bool {
	return len(l.waiting) > 0 && l.newest.Sub(l.waiting[0].began) > window || len(l.waiting) >= mostWaiting
}

// release moves the first request to ready, with all others of the same second if the log has only whole seconds. These
// are spread evenly over the second.
func (l *Log) release() {
	began := l.waiting[0].began
	var same []entry
	for len(l.waiting) > 0 && l.waiting[0].began.Equal(began) {
		same = append(same, heap.Pop(&l.waiting).(entry))
	}
	for i, e := range same {
		at := began.Sub(l.first)
		if e.wholeSecond {
			at += time.Second * time.Duration(i) / time.Duration(len(same))
		}
		if at < l.last {
			if l.last-at > time.Second { // it may be less in a log with and without fractions of seconds
				l.note(func(c *Counts) { c.Displaced++ })
			}
			at = l.last
		}
		l.last, e.At = at, at
		l.ready = append(l.ready, e.Request)
	}
}

// readLine returns the next line, without its end. It is valid until the next call.
func (l *Log) readLine() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		whole := bytes.Clone(line)
		for err == bufio.ErrBufferFull && len(whole) <= maxLine {
			line, err = l.in.ReadSlice('\n')
			whole = append(whole, line...)
		}
		line = whole
		for err == bufio.ErrBufferFull { // the rest of a line that is too long
			_, err = l.in.ReadSlice('\n')
		}
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	l.line++
	return bytes.TrimRight(line, "\r\n"), nil
}

// add adds the request of a line to the window.
func (l *Log) add(line []byte) {
	e, err := parse(line)
	e.line = l.line
	if err == nil {
		err = e.check()
	}
	l.note(func(c *Counts) {
		c.Lines++
		switch {
		case errors.Is(err, errOther):
			c.Others++
		case err != nil:
			if c.Unreadable++; c.Unreadable == 1 {
				c.FirstUnreadable = fmt.Sprintf("%s:%d: %v", l.options.Name, l.line, err)
			}
		case !l.options.AllMethods && !Safe(e.Method):
			c.Unsafe++
		default:
			heap.Push(&l.waiting, e)
		}
	})
	if err == nil && e.began.After(l.newest) {
		l.newest = e.began
	}
}

// Safe reports whether a method does not change anything (RFC 9110, section 9.2.1). TRACE is not sent.
func Safe(method string) bool { return method == "GET" || method == "HEAD" || method == "OPTIONS" }
