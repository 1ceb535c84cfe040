package pacing

import (
	"net"
	"os"
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

// TestFilesHaveAMinimumSpeed sends files to clients that take so many bytes of a file in a second.
func TestFilesHaveAMinimumSpeed(t *testing.T) {
	for _, c := range []struct {
		rate          int64 // the minimum speed
		perSecond     int
		earliest, end time.Duration // when a client is cut; 0 for never
	}{
		{1000, 0, 10 * time.Second, 22 * time.Second}, {100_000, 0, 10 * time.Second, 12 * time.Second},
		{1000, 500, 20 * time.Second, time.Minute}, {1000, 1000, 0, 0}, {1000, 5000, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var p Pacer
			var conn deadlines
			p.Begin(&conn, time.Time{}, time.Time{})
			p.Bind(&proxying.Exchange{Client: fileTaker{conn: &conn, perSecond: c.perSecond}})
			p.SetLimits(Limits{WriteTimeout: 10 * time.Second, DownloadRate: c.rate})
			if !p.SendsFiles() {
				t.Fatal("the client sends no files")
			}
			var err error
			for err == nil && time.Since(start) < 10*time.Minute {
				_, err = p.SendFile(0, 0, 1<<20)
			}
			took := time.Since(start)
			if c.end == 0 && err != nil || c.end > 0 && (err != ErrSlowDownload || took < c.earliest || took > c.end) {
				t.Errorf("%d bytes a second of %d: %v after %v", c.perSecond, c.rate, err, took)
			}
		})
	}
}

// A fileTaker is a client that takes perSecond bytes of a file after a second.
type fileTaker struct {
	discard
	conn      *deadlines
	perSecond int
}

func (f fileTaker) SendsFiles() bool { return true }

func (f fileTaker) SendFile(int, int64, int) (int, error) {
	deadline := f.conn.set[len(f.conn.set)-1]
	if f.perSecond == 0 || time.Until(deadline) < time.Second {
		time.Sleep(time.Until(deadline))
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(time.Second)
	return f.perSecond, nil
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
