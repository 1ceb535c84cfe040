package transport

import (
	"testing"
	"time"
)

// A taskFunc is a function as a Task.
type taskFunc func()

func (f taskFunc) Run() { f() }

// TestTasksWaitForSignalsInTurn lets two tasks wait for each other in turn, with the same signals.
func TestTasksWaitForSignalsInTurn(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		const turns = 5000
		ping, pong, done := NewSignal(), NewSignal(), NewSignal()
		e.do(func() {
			e.driver.Go(taskFunc(func() {
				defer done.Send()
				for range turns {
					e.driver.Wait(ping, 0)
					ping.Reset()
					pong.Send()
				}
			}))
			for i := range turns {
				limit := time.Duration(i % 2 * int(time.Minute))
				if ping.Send(); !e.driver.Wait(pong, limit) || !pong.Sent() {
					t.Errorf("turn %d: the wait ended before the signal", i)
				}
				pong.Reset()
			}
			if !e.driver.Wait(done, time.Minute) || !e.driver.Wait(done, 0) {
				t.Error("the wait for a signal that was sent failed")
			}
		})
	})
}

// TestLateSignalReachesTheNextWait checks that a wait ends with its limit, and that a second one gets the
// signal.
func TestLateSignalReachesTheNextWait(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *engine) {
		begin, late := NewSignal(), NewSignal()
		e.do(func() {
			e.driver.Go(taskFunc(func() {
				e.driver.Wait(begin, 0)
				late.Send()
			}))
			const limit = 100 * time.Millisecond
			began := time.Now()
			if e.driver.Wait(late, limit) || late.Sent() {
				t.Error("a signal that was not sent was reported")
			}
			if took := time.Since(began); took < limit/2 {
				t.Errorf("the wait took %v, want about %v", took, limit)
			}
			begin.Send()
			if !e.driver.Wait(late, time.Minute) {
				t.Error("the second wait ended without the signal")
			}
		})
	})
}
