package transport

import (
	"iter"
	"runtime/debug"
	"time"
)

const (
	// A coroutine lets the others run after so many operations, or so many bytes, that
	// did not have to wait. It takes about 0.2 ms for them.
	maxOperations = 16
	maxBytes      = 256 << 10

	// trimPause is the interval at which a loop ends coroutines that it has not needed
	// since the last time.
	trimPause = time.Second
	// keptCoroutines is how many unused coroutines a loop always keeps.
	keptCoroutines = 16
)

// A coroutine runs tasks, one after another. It runs while the loop waits for it in
// resume, and stops running in yield.
type coroutine struct {
	loop   *Loop
	task   Task
	resume func() (struct{}, bool)
	end    func()
	yield  func(struct{}) bool
	queued bool // is in the loop's queue
	timer  timer
	due    int64 // when the timer wakes it, as in Loop.at; 0 if it does not

	operations, bytes int // since it was resumed
}

func newCoroutine(l *Loop) *coroutine {
	co := &coroutine{loop: l}
	co.timer.owner = co
	co.resume, co.end = iter.Pull(co.serve)
	return co
}

func (co *coroutine) serve(yield func(struct{}) bool) {
	co.yield = yield
	for {
		co.perform()
		if !yield(struct{}{}) {
			return
		}
	}
}

// perform runs the task. A panic ends only the task.
func (co *coroutine) perform() {
	defer co.loop.finished(co)
	defer co.loop.recovered()
	co.task.Run()
}

// run implements runnable.
func (co *coroutine) run() {
	co.queued, co.operations, co.bytes = false, 0, 0
	co.loop.running = co
	co.resume()
	co.loop.running = nil
}

// wake has the loop resume the coroutine.
func (co *coroutine) wake() {
	if !co.queued {
		co.queued = true
		co.loop.queue.push(co)
	}
}

// wakeNext has the loop resume the coroutine before all others, because the data that the
// running one has produced is in the cache.
func (co *coroutine) wakeNext() {
	if !co.queued {
		co.queued = true
		co.loop.queue.pushFront(co)
	}
}

// wait returns after the coroutine was woken, which may be for another reason than that
// for which it waits.
func (co *coroutine) wait() { co.yield(struct{}{}) }

// Go implements Driver. It runs a task in a coroutine, which starts after the call, without
// waiting for anything else. It must be called on the loop. A task that is started by another
// one is the next to run.
//
// A task waits only in the methods of a [Conn] and of the loop. All other kinds of
// waiting, such as in a channel, would hold up the whole loop. While it holds a mutex it
// must not wait in these methods either: if another task needs the mutex, the loop would
// wait for itself. A task must not call runtime.Goexit.
func (l *Loop) Go(t Task) {
	var co *coroutine
	if n := len(l.unused) - 1; n >= 0 {
		co, l.unused = l.unused[n], l.unused[:n]
		l.fewestUnused = min(l.fewestUnused, n)
	} else {
		co = newCoroutine(l)
	}
	co.task = t
	l.active++
	if l.running != nil {
		co.wakeNext()
	} else {
		co.wake()
	}
}

// finished keeps a coroutine for another task.
func (l *Loop) finished(co *coroutine) {
	co.task = nil
	l.active--
	l.unused = append(l.unused, co)
	if len(l.unused) > keptCoroutines && l.trim.tick.Load() == 0 {
		l.fewestUnused = len(l.unused)
		l.wheel.set(&l.trim.timer, l.elapsed+int64(trimPause))
	}
}

// A trim is the timer at which a loop ends unused coroutines.
type trim struct {
	timer
	loop *Loop
}

// elapse implements timed. It ends the coroutines that were not needed since the last
// call.
func (t *trim) elapse(now int64) (next int64) {
	l := t.loop
	for range min(l.fewestUnused, len(l.unused)-keptCoroutines) {
		l.endUnused()
	}
	if l.fewestUnused = len(l.unused); l.fewestUnused <= keptCoroutines {
		return 0
	}
	return now + int64(trimPause)
}

// endUnused ends a coroutine without a task.
func (l *Loop) endUnused() {
	n := len(l.unused) - 1
	l.unused[n].end()
	l.unused[n] = nil
	l.unused = l.unused[:n]
}

// current returns the running coroutine.
func (l *Loop) current() *coroutine {
	if l.running == nil {
		panic("transport: an operation of a loop has to wait outside of a task")
	}
	return l.running
}

// share lets others run if the running coroutine has used its turn.
func (l *Loop) share() {
	co := l.running
	if co == nil {
		return
	}
	if co.operations++; co.operations > maxOperations || co.bytes >= maxBytes {
		co.wake()
		co.wait()
	}
}

// spend counts bytes of the running coroutine.
func (l *Loop) spend(n int) {
	if l.running != nil {
		l.running.bytes += n
	}
}

// recovered reports a panic. It must be deferred itself.
func (l *Loop) recovered() {
	if v := recover(); v != nil {
		l.onPanic(v, debug.Stack())
	}
}

// Wait implements Driver.
func (l *Loop) Wait(s *Signal, limit time.Duration) bool {
	if s.Sent() {
		return true
	}
	co := l.current()
	s.waiter = co
	if co.due = 0; limit > 0 {
		co.due = l.elapsed + int64(limit)
		l.wheel.set(&co.timer, co.due)
	}
	for !s.Sent() && (co.due == 0 || l.elapsed < co.due) {
		co.wait()
	}
	l.wheel.stop(&co.timer)
	s.waiter = nil
	return s.Sent()
}

// elapse implements timed. It wakes a coroutine whose wait is over.
func (co *coroutine) elapse(now int64) (next int64) {
	if now < co.due {
		return co.due
	}
	co.wake()
	return 0
}

// Block implements Driver. f runs in a goroutine.
func (l *Loop) Block(f func()) {
	co := l.current()
	b := &blocked{loop: l, co: co}
	go b.call(f)
	for !b.done {
		co.wait()
	}
	if b.panicked != nil {
		panic(b.panicked)
	}
}

// blocked is the state of a call of Block.
type blocked struct {
	loop     *Loop
	co       *coroutine
	done     bool
	panicked any
}

func (b *blocked) call(f func()) {
	defer b.loop.Post(b.end)
	defer func() { b.panicked = recover() }()
	f()
}

func (b *blocked) end() {
	b.done = true
	b.co.wake()
}
