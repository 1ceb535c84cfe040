package health

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/proxying"
)

// TestBucketsKeepTheOrderOfTimes checks that times and buckets are in the same order, and the width of buckets.
func TestBucketsKeepTheOrderOfTimes(t *testing.T) {
	for range 10000 {
		d := time.Duration(rand.Int64N(int64(2 * time.Minute)))
		if rand.IntN(2) == 0 {
			d = time.Duration(rand.Int64N(int64(time.Millisecond)))
		}
		least, next := timeOf(bucketOf(d)), timeOf(bucketOf(d)+1)
		if us := d.Truncate(time.Microsecond); us < least || us >= next || next-least > max(time.Microsecond, least/4) {
			t.Fatalf("%v is in the bucket from %v to %v", d, least, next)
		}
	}
	if got := bucketOf(time.Hour); got != buckets-1 {
		t.Errorf("an hour is in bucket %d of %d", got, buckets)
	}
}

func TestConsecutiveFailuresEject(t *testing.T) {
	o := &Outliers{Consecutive: 3, Statuses: statuses.Set{{First: 502, Last: 504}}}
	var c counts
	c.before(t)
	good := proxying.Attempt{Status: 200, Waited: time.Millisecond}
	bad := proxying.Attempt{Status: 503, Waited: time.Millisecond}
	refused, gone := proxying.Attempt{Failure: proxying.Refused}, proxying.Attempt{Waited: time.Second}
	for i, a := range []struct {
		proxying.Attempt
		eject bool
	}{{bad, false}, {refused, false}, {good, false}, {bad, false}, {gone, false}, {refused, false}, {bad, true}, {bad, true}} {
		if got := c.note(o, a.Attempt); got != a.eject {
			t.Errorf("attempt %d: %t", i, got)
		}
	}
	s := c.snapshot().since(new(snapshot))
	if s.requests != 7 || s.failures != 6 || s.median != 896*time.Microsecond {
		t.Errorf("%+v", s)
	}
	if o.Consecutive = 0; c.note(o, bad) {
		t.Error("ejected, but consecutive is off")
	}
}

// before checks the sample of counts without an attempt.
func (c *counts) before(t *testing.T) {
	t.Helper()
	if s := c.snapshot().since(new(snapshot)); s != (sample{}) {
		t.Errorf("before: %+v", s)
	}
}

func TestCompareFindsOutliers(t *testing.T) {
	ms := time.Millisecond
	o := Outliers{FailureRate: 0.3, Latency: 3, Requests: 10}
	for _, c := range []struct {
		name    string
		samples []sample
		want    string
	}{
		{"all alike", []sample{{100, 50, ms}, {100, 50, ms}, {100, 50, ms}}, "[]"},
		{"one fails", []sample{{100, 0, ms}, {100, 31, ms}, {100, 1, ms}}, "[1 failure_rate]"},
		{"one of two fails", []sample{{100, 0, ms}, {100, 30, ms}}, "[1 failure_rate]"},
		{"less than the limit", []sample{{100, 1, ms}, {100, 30, ms}}, "[]"},
		{"too few requests", []sample{{100, 0, ms}, {9, 9, ms}, {100, 0, ms}}, "[]"},
		{"nothing to compare with", []sample{{100, 100, ms}, {9, 0, ms}}, "[]"},
		{"one alone", []sample{{100, 100, ms}}, "[]"},
		{"two fail, the worst first", []sample{{10, 4, ms}, {10, 9, ms}, {10, 0, ms}, {10, 0, ms}},
			"[1 failure_rate 0 failure_rate]"},
		{"one is slow", []sample{{10, 0, 20 * ms}, {10, 0, 20 * ms}, {10, 0, 61 * ms}}, "[2 latency]"},
		{"as slow as allowed", []sample{{10, 0, 20 * ms}, {10, 0, 20 * ms}, {10, 0, 60 * ms}}, "[]"},
		{"slow, but by little", []sample{{10, 0, ms}, {10, 0, ms}, {10, 0, 10 * ms}}, "[]"},
		{"slow and failing", []sample{{10, 0, ms}, {10, 0, ms}, {10, 9, time.Second}}, "[2 failure_rate]"},
	} {
		var got []string
		for _, f := range o.compare(c.samples) {
			got = append(got, fmt.Sprint(f.server, " ", f.by))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	if off := (Outliers{Requests: 1}); off.compare([]sample{{10, 10, time.Second}, {10, 0, ms}}) != nil {
		t.Error("found with everything off")
	}
}

func TestStateFollowsRiseAndFall(t *testing.T) {
	check := &Check{Rise: 2, Fall: 3}
	bad := fmt.Errorf("bad")
	for _, c := range []struct{ results, want string }{ // + and - are results, and states after them
		{"+++", "+++"},
		{"-", "-"},
		{"-+", "--"},
		{"-++", "--+"},
		{"+--+---", "++++++-"},
		{"+---+-++", "+++----+"},
	} {
		var st State
		got := ""
		for _, r := range c.results {
			result := bad
			if r == '+' {
				result = nil
			}
			st.note(check, result)
			if st.unhealthy {
				got += "-"
			} else {
				got += "+"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.results, got, c.want)
		}
	}
}

func BenchmarkNote(b *testing.B) {
	o := &Outliers{Consecutive: 5, Statuses: statuses.Set{{First: 502, Last: 504}}}
	var c counts
	b.ReportAllocs()
	for i := range b.N {
		c.note(o, proxying.Attempt{Status: 200, Waited: time.Duration(i)})
	}
}
