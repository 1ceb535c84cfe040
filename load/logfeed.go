package load

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/recorded"
	"github.com/weirhq/weir/load/replay"
)

// A logFeed hands the requests of a log to the threads that send them. A nil logFeed does nothing.
type logFeed struct {
	log    *replay.Log
	speed  float64
	warmUp time.Duration
	frame  *program.Frame
	parts  int
	queues map[int]*recorded.Queue // by part; those of other shares are missing

	mu   sync.Mutex    // guards the fields below
	last time.Duration // when the last request is due that a thread has got
	done bool          // there are no more requests
	err  error         // of reading the log
}

// compileLog compiles the target of a log.
func (p *Plan) compileLog() (*program.Program, *program.Frame, error) {
	beginning := p.Log.Beginning()
	compiled, frame, err := program.CompileRecorded(p.Targets[0], endpointsOf(beginning), p.Seed, p.NoKeepAlive, p.Find)
	if err != nil {
		return nil, nil, err
	}
	h := sha256.New()
	fmt.Fprintln(h, compiled.Hash)
	for _, r := range beginning {
		fmt.Fprintf(h, "%d %q %q %q\n", r.At, r.Method, r.Host, r.Target)
	}
	compiled.Hash = hex.EncodeToString(h.Sum(nil)[:8])
	return compiled, frame, nil
}

// endpointsOf returns the endpoints of requests, in their order.
func endpointsOf(requests []replay.Request) (all []program.Endpoint) {
	index := make(map[[2]string]int)
	for _, r := range requests {
		key := [2]string{r.Method, program.PathOf(r.Target)}
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, program.Endpoint{Method: key[0], Path: key[1]})
		}
		all[i].Targets++
	}
	return all
}

// newLogFeed returns nil without a log.
func newLogFeed(p *Plan, frame *program.Frame) *logFeed {
	if p.Log == nil {
		return nil
	}
	return &logFeed{log: p.Log, speed: p.Pace.Speed, warmUp: p.WarmUp, frame: frame, queues: make(map[int]*recorded.Queue)}
}

// queue returns the queue of a thread's part, which begins empty; nil without a log.
func (l *logFeed) queue(part, parts int) *recorded.Queue {
	if l == nil {
		return nil
	}
	q := recorded.NewQueue()
	l.queues[part], l.parts = q, parts
	return q
}

// start begins to read. The function that it returns ends it, and may be called again.
func (l *logFeed) start() (stop func()) {
	if l == nil {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.read()
	}()
	return sync.OnceFunc(func() {
		l.closeQueues()
		l.log.Close()
		select {
		case <-over:
		case <-time.After(time.Second): // a read of a pipe ends with the pipe
		}
	})
}

func (l *logFeed) closeQueues() {
	for _, q := range l.queues {
		q.Close()
	}
}

// read hands out all requests.
func (l *logFeed) read() {
	defer l.closeQueues()
	for seq := uint64(0); ; seq++ {
		r, err := l.log.Next()
		if err != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.done = true; !errors.Is(err, io.EOF) {
				l.err = err
			}
			return
		}
		q := l.queues[int(seq%uint64(l.parts))]
		if q == nil {
			continue
		}
		due := time.Duration(float64(r.At)/l.speed) - l.warmUp
		if !q.Add(recorded.Request{Due: due, Message: l.frame.Message(r.Method, r.Host, r.Target, seq)}) {
			return
		}
		l.mu.Lock()
		l.last = due
		l.mu.Unlock()
	}
}

// endedBefore reports whether all requests were due before the end.
func (l *logFeed) endedBefore(end time.Duration) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done && l.last < end
}

// addTo adds the counts of the log to a result.
func (l *logFeed) addTo(r *Result) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.log.Counts()
	r.Log = &LogResult{
		File: l.log.Name(), Speed: l.speed, RecordedSeconds: (l.last + l.warmUp).Seconds() * l.speed, Lines: c.Lines, Others: c.Others,
		Unsafe: c.Unsafe, Unreadable: c.Unreadable, FirstUnreadable: c.FirstUnreadable, Redacted: c.Redacted,
		Displaced: c.Displaced,
	}
	if l.err != nil {
		r.warn("the log ended early: %v", l.err)
	}
	r.warnAboutLog()
}

// warnAboutLog adds the warnings about the lines of the log.
func (r *Result) warnAboutLog() {
	l := r.Log
	if l == nil {
		return
	}
	if l.Unreadable > 0 {
		r.warn("%d of the %d lines of %s cannot be read, and are left out; the first: %s", l.Unreadable, l.Lines, l.File,
			l.FirstUnreadable)
	}
	if l.Unsafe > 0 {
		r.warn("%s of %s may change something and %s left out; --all-methods sends requests of all methods, without bodies",
			requests(l.Unsafe), l.File, wasWere(l.Unsafe))
	}
	if l.Redacted > 0 {
		r.warn("%s of %s had a secret in the query, which the log does not have", requests(l.Redacted), l.File)
	}
	if l.Displaced > 0 {
		r.warn("%s of %s took more than a minute, and %s sent late: they are logged after later ones", requests(l.Displaced),
			l.File, wasWere(l.Displaced))
	}
}

func wasWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
