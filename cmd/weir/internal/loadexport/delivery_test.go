package loadexport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/log/stream"
)

// A recorder is a protocol whose server responds to each request as respond does: it waits or fails. It keeps the
// numbers of responses of the intervals that it has got.
type recorder struct {
	respond func(ctx context.Context) error
	got     []int64
	sent    int64
}

func (r *recorder) encode(i interval) (request, error) {
	return request{fmt.Append(nil, i.result.Requests), 1}, nil
}

func (r *recorder) Send(ctx context.Context, sent request) error {
	r.sent++
	if err := r.respond(ctx); err != nil {
		return err
	}
	var n int64
	if _, err := fmt.Sscan(string(sent.message), &n); err != nil {
		return err
	}
	r.got = append(r.got, n)
	return nil
}

func (r *recorder) Close() {}

// export offers a run of so many seconds to a recorder, one interval each second, and returns the warnings and the
// messages. It fails the test if an interval makes the run wait.
func export(t *testing.T, r *recorder, seconds int) (warnings, said []string) {
	t.Helper()
	say := func(m string) { said = append(said, m) }
	e := &Exporter{deliveries: []*delivery{newDelivery("otlp+http://server", r, say)}}
	e.Snapshot(&load.Result{}) // of the warm-up
	for i := range seconds {
		began := time.Now()
		e.Snapshot(&load.Result{Requests: int64(i), DurationSeconds: 1})
		if waited := time.Since(began); waited != 0 {
			t.Errorf("interval %d made the run wait for %v", i, waited)
		}
		time.Sleep(time.Second)
	}
	last := &load.Result{Requests: int64(seconds)}
	began := time.Now()
	e.Finish(last)
	if waited := time.Since(began); waited > finishWithin {
		t.Errorf("the end of the run waited for %v, want %v at most", waited, finishWithin)
	}
	return last.Warnings, said
}

func upTo(n int64) (all []int64) {
	for i := range n + 1 {
		all = append(all, i)
	}
	return all
}

// A server that is away for ten seconds gets all intervals in order, and the user one message.
func TestIntervalsWaitForAServerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(10 * time.Second)
		r := &recorder{respond: func(context.Context) error {
			if time.Now().Before(back) {
				return errors.New("connection refused")
			}
			return nil
		}}
		warnings, said := export(t, r, 20)
		if len(warnings) > 0 || !slices.Equal(r.got, upTo(20)) {
			t.Errorf("the server got %v with the warnings %q, want all of 0 to 20", r.got, warnings)
		}
		if want := []string{"--export: connection refused; the load continues"}; !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
}

// A server that never responds loses the intervals beyond the queue, and delays the end of the run by finishWithin.
func TestIntervalsOfASilentServerAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{respond: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		warnings, said := export(t, r, 2*mostWaiting)
		want := fmt.Sprintf("%d of the %[1]d intervals were not exported as a whole to otlp+http://server: "+
			"no response within 5 s of the end", 2*mostWaiting+1)
		if !slices.Equal(warnings, []string{want}) || len(said) > 0 {
			t.Errorf("the warnings are %q, and said %q; want %q, and nothing", warnings, said, want)
		}
	})
}

// The message about a failure after the end does not say that the load continues.
func TestAFailureAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(2 * time.Second)
		r := &recorder{respond: func(context.Context) error {
			if time.Now().Before(end) {
				return nil
			}
			return errors.New("connection refused")
		}}
		warnings, said := export(t, r, 2)
		want := "1 of the 3 intervals were not exported as a whole to otlp+http://server: connection refused"
		if !slices.Equal(warnings, []string{want}) || !slices.Equal(said, []string{"--export: connection refused"}) {
			t.Errorf("the warnings are %q, and said %q; want %q, and the reason", warnings, said, want)
		}
	})
}

// A slow server gets the first intervals, and the last one, before which others have waited.
func TestASlowServerGetsTheLastInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{respond: func(ctx context.Context) error {
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		warnings, _ := export(t, r, 601)
		if last := r.got[len(r.got)-1]; last != 601 || !slices.IsSorted(r.got) {
			t.Errorf("the server got %v, want 601 as the last", r.got)
		}
		want := fmt.Sprintf("%d of the 602 intervals were not exported as a whole to otlp+http://server: "+
			"the server is slow", 602-len(r.got))
		if !slices.Equal(warnings, []string{want}) {
			t.Errorf("the warnings are %q, want %q", warnings, want)
		}
	})
}

// An interval that the server rejects is not sent again, and is counted.
func TestRejectedIntervalsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		r.respond = func(context.Context) error {
			if r.sent == 2 {
				return &stream.RejectedError{Lines: 1, Err: errors.New("out of order")}
			}
			return nil
		}
		warnings, _ := export(t, r, 4)
		want := "1 of the 5 intervals were not exported as a whole to otlp+http://server: out of order"
		if !slices.Equal(warnings, []string{want}) || !slices.Equal(r.got, []int64{0, 2, 3, 4}) {
			t.Errorf("the server got %v, and the warnings are %q, want %q", r.got, warnings, want)
		}
	})
}

// Mistakes of URLs and tags are found before the run, and their messages have no password.
func TestMistakesOfExports(t *testing.T) {
	for _, c := range []struct {
		url  string
		tags map[string]string
		want string
	}{
		{"http://weir:hunter2@host", nil, "the URL begins with otlp+http://"},
		{"prometheus+http://", nil, "is prometheus+http://host:9090"},
		{"prometheus+http://weir:hunter2@host:x", nil, "is prometheus+http://host:9090"},
		{"otlp+http://weir:hunter2@host?a=b", nil, `the unknown parameter "a"`},
		{"otlp+http://host", map[string]string{"a-b": "c"}, `the tag "a-b" is not a name`},
		{"otlp+http://host", map[string]string{"": "c"}, `the tag "" is not a name`},
		{"otlp+http://host", map[string]string{"9a": "c"}, `the tag "9a" is not a name`},
		{"otlp+http://host", map[string]string{"status": "c"}, "the tag status is a label of the measurements"},
		{"otlp+http://host", map[string]string{"__a": "c"}, "the tag __a is a label of the measurements"},
		{"otlp+http://host", map[string]string{"a": ""}, "the tag a has no value"},
	} {
		_, err := Open([]string{c.url}, c.tags, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s with %v: %v, want %s", c.url, c.tags, err, c.want)
		}
	}
}
