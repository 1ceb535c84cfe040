package limit

import (
	"context"
	"fmt"
	"time"
)

// WaitN takes n tokens from the bucket of key. It waits until the bucket has as many, and
// returns nil. Requests for one key are admitted in FIFO order, whatever their n. The number of
// requests that wait is bounded only by their callers, and by the deadlines of their contexts.
//
// WaitN returns an error without waiting if n is more than Burst, which wraps ErrRate, and if the
// tokens come after the deadline of ctx, which wraps context.DeadlineExceeded. If ctx ends during
// the wait, it returns the error of ctx. A request that gets an error has taken no token, and
// requests that wait after it are admitted earlier, as if it had never come. If its tokens came
// before, or at the same moment, WaitN returns nil. It panics if n is negative.
//
// It reads the clock, so calls of AllowN need the current time as well. If the Rate has
// [RateOptions.Buckets], WaitN tries again after RetryAfter, and there is no order.
func (r *Rate) WaitN(ctx context.Context, key Key, n int) error {
	checkTokens(n)
	switch {
	case r.every == 0:
		return ctx.Err()
	case r.one:
		key = Key{}
	}
	if r.buckets != nil {
		return r.tryUntil(ctx, key, n)
	}
	hash := key.hash()
	s := r.shard(hash)
	w, err := r.takeOrQueue(ctx, s, hash, n)
	if w == nil {
		return err
	}
	select {
	case err := <-w.answer:
		return err
	case <-ctx.Done():
		return r.giveUp(ctx, s, hash, w)
	}
}

// tryUntil takes n tokens from buckets that cannot reserve them.
func (r *Rate) tryUntil(ctx context.Context, key Key, n int) error {
	r.trying.Add(1)
	defer r.trying.Add(-1)
	for ctx.Err() == nil {
		now := time.Now()
		d := r.buckets.Take(now, key, n)
		if d.OK {
			return nil
		}
		if err := r.mayWait(ctx, now, n, d.RetryAfter); err != nil {
			return err
		}
		timer := time.NewTimer(d.RetryAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return ctx.Err()
}

// mayWait returns an error if the tokens never come, or come after the deadline of ctx.
func (r *Rate) mayWait(ctx context.Context, now time.Time, n int, wait time.Duration) error {
	if n > r.burst() {
		return fmt.Errorf("%w: a request needs %d tokens at once, and the burst is %d", ErrRate, n, r.burst())
	}
	if deadline, ok := ctx.Deadline(); ok && now.Add(wait).After(deadline) {
		return fmt.Errorf("limit: the tokens come in %v, after the deadline: %w", wait, context.DeadlineExceeded)
	}
	if wait > century {
		return fmt.Errorf("%w: the tokens come in more than a century", ErrRate)
	}
	return nil
}

// A line is the bucket of a key for which requests wait. Their tokens are reserved, and come in
// the order of their arrival:
//
//	          a   b     c
//	 |--------|---|-----|      time to add the tokens; the requests a, b and c wait
//	now                fullAt
//
// A request is admitted when the bucket with its tokens is full no later than after fill. One that
// gives up is cut out, and moves the later ones to the left.
type line struct {
	fullAt   int64 // when the bucket will be full, with the tokens of all waiters
	reserved int64 // the part of fullAt for these
	waiters  waitQueue
	timer    *time.Timer // until the tokens of the oldest waiter come
}

// nextAt returns the time at which the oldest waiter is admitted.
func (l *line) nextAt(fill int64) int64 { return l.fullAt - l.reserved + l.waiters.oldest.cost - fill }

// takeOrQueue takes n tokens. If it has to wait for them, it returns a waiter.
func (r *Rate) takeOrQueue(ctx context.Context, s *shard, hash uint64, n int) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		s.refused++
		return nil, err
	}
	now, cost := time.Now(), r.cost(n)
	t := s.advance(now, int64(now.Sub(r.start)))
	wait, reset := s.take(hash, t, cost)
	if wait == 0 {
		s.admitted++
		return nil, nil
	}
	if err := r.mayWait(ctx, now, n, time.Duration(wait)); err != nil {
		s.refused++
		return nil, err
	}
	l := s.lines[hash]
	if l == nil {
		l = &line{fullAt: t + reset}
		l.timer = time.AfterFunc(time.Duration(wait), func() { r.admitDue(s, hash) })
		if s.lines == nil {
			s.lines = make(map[uint64]*line)
		}
		s.lines[hash] = l
	}
	w := &waiter{answer: make(chan error, 1), cost: cost}
	l.fullAt += cost
	l.reserved += cost
	l.waiters.push(w)
	s.latest = max(s.latest, l.fullAt)
	return w, nil
}

// admitDue admits the waiters of a line whose tokens have come.
func (r *Rate) admitDue(s *shard, hash uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.settle(hash, s.advance(now, int64(now.Sub(r.start))))
}

// giveUp returns the tokens of a waiter whose context has ended, unless it was admitted.
func (r *Rate) giveUp(ctx context.Context, s *shard, hash uint64, w *waiter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	t := s.advance(now, int64(now.Sub(r.start)))
	s.settle(hash, t)
	if !w.queued {
		return <-w.answer
	}
	l := s.lines[hash]
	l.waiters.remove(w)
	l.fullAt -= w.cost
	l.reserved -= w.cost
	s.refused++
	s.settle(hash, t)
	return ctx.Err()
}

// settle admits the waiters for a key whose tokens have come, and ends the line if it is empty.
// s.mu is held.
func (s *shard) settle(hash uint64, now int64) {
	l := s.lines[hash]
	if l == nil {
		return
	}
	for l.waiters.len > 0 {
		next := l.nextAt(s.fill)
		if next > now {
			l.timer.Reset(time.Duration(next - now))
			return
		}
		w := l.waiters.remove(l.waiters.oldest)
		l.reserved -= w.cost
		s.admitted++
		w.answer <- nil
	}
	l.timer.Stop()
	delete(s.lines, hash)
	at, _ := s.bucket(hash, now)
	*at = max(*at, l.fullAt)
}
