package compress

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/stage"
)

// A sink is the client of a response of which only the length matters.
type sink struct {
	stage.Client
	sent int
}

func (*sink) Head(int, []stage.Field, int64) error { return nil }
func (*sink) Flush() error                         { return nil }
func (s *sink) Write(p []byte) (int, error) {
	s.sent += len(p)
	return len(p), nil
}

// TestLongBodiesWaitForASlot checks that a body which a loop does not compress itself waits while all slots are taken,
// and that a short one does not.
func TestLongBodiesWaitForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(&stage.Door{Metrics: prometheus.NewRegistry()})
		c := Default()
		c.Encodings = []string{"gzip"}
		s, err := f.Stage(c, false)
		if err != nil {
			t.Fatal(err)
		}
		for range cap(f.slots) {
			f.slots <- struct{}{}
		}
		respond := func(length int) (to *sink) {
			to = new(sink)
			x := new(stage.Exchange)
			x.Client, x.Method = to, "GET"
			x.Header = []stage.Field{{Name: "Accept-Encoding", Value: "gzip"}}
			s.Apply(x)
			go func() {
				x.Client.Head(200, []stage.Field{{Name: "Content-Type", Value: "text/html"}}, int64(length))
				x.Client.Write(bytes.Repeat([]byte("a"), length))
				if err := x.Client.(stage.Filter).End(true); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
			return to
		}
		quick := s.(*compression).sources[0].Quick
		if to := respond(quick); to.sent == 0 {
			t.Errorf("a body of %d bytes waits for a slot", quick)
		}
		to := respond(quick + 1)
		if to.sent > 0 {
			t.Errorf("a body of %d bytes needs no slot", quick+1)
		}
		<-f.slots
		synctest.Wait()
		if to.sent == 0 {
			t.Error("a body is not compressed when a slot is free")
		}
		if want := cap(f.slots) - 1; len(f.slots) != want {
			t.Errorf("%d slots are taken, want %d", len(f.slots), want)
		}
	})
}
