package pacing

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// TestWritesShareADeadline checks which writes set the deadline of their connection: the first, one that the deadline
// is too early for, and one that it gives more than a pause too much.
func TestWritesShareADeadline(t *testing.T) {
	const pause = 8 * time.Second
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var p Pacer
		var c deadlines
		p.Begin(&c, time.Time{}, time.Time{})
		p.Bind(&proxying.Exchange{Client: discard{}})
		p.SetLimits(Limits{WriteTimeout: pause})
		write := func(n int) {
			if n == 0 {
				p.Flush()
			} else {
				p.Write(make([]byte, n))
			}
		}
		for _, n := range []int{0, 4096, 0, 4096} { // the pause, and for bytes another one
			write(n)
		}
		time.Sleep(time.Second / 2)
		write(4096)
		time.Sleep(2 * time.Second)
		write(4096)
		p.LimitTo(time.Now().Add(time.Second))
		write(0)
		var got []time.Duration
		for _, at := range c.set {
			got = append(got, at.Sub(start))
		}
		want := []time.Duration{9 * time.Second, 17 * time.Second, 19500 * time.Millisecond, 3500 * time.Millisecond}
		if !slices.Equal(got, want) {
			t.Errorf("deadlines %v after the start, want %v", got, want)
		}
	})
}

// deadlines is a Conn that keeps the deadlines of writes.
type deadlines struct {
	net.Conn
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// discard is a Client that takes all bytes.
type discard struct{ proxying.Client }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Flush() error                { return nil }
