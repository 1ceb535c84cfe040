package pace

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Dues returns the sorted due times of all threads, up to the end of the stages or to the
// given number per thread.
func dues(p Pace, threads, most int) []time.Duration {
	var all []time.Duration
	for thread := range threads {
		s := NewSchedule(p, thread, threads, 1)
		for range most {
			due := s.Due()
			if due == Never {
				break
			}
			all = append(all, due)
			s.Advance()
		}
	}
	slices.Sort(all)
	return all
}

// TestEvenPaceSpacesRequestsEvenly checks that the requests of all threads together are evenly spaced.
func TestEvenPaceSpacesRequestsEvenly(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 2, 3, 7} {
		all := dues(Rate(1000), threads, 1000)[:1000]
		for i, due := range all {
			if want := time.Duration(i) * time.Millisecond; (due - want).Abs() > time.Microsecond {
				t.Fatalf("%d threads: request %d is due at %v, want %v", threads, i, due, want)
			}
		}
	}
}

// TestRampMatchesItsIntegral compares the times of a ramp with its integral, which it computes in small
// steps.
func TestRampMatchesItsIntegral(t *testing.T) {
	t.Parallel()
	p := Pace{Stages: []Stage{{2 * time.Second, 100, 500}, {time.Second, 0, 0}, {time.Second, 300, 0}}}
	all := dues(p, 2, 10_000)
	if want := 600 + 150; len(all) != want {
		t.Fatalf("%d requests, want %d", len(all), want)
	}
	rate := func(t float64) float64 {
		switch {
		case t < 2:
			return 100 + 200*t
		case t < 3:
			return 0
		}
		return 300 - 300*(t-3)
	}
	const step = 1e-5
	area, at := 0.0, 0.0
	for i, due := range all {
		for at < due.Seconds() {
			area += rate(at+step/2) * step
			at += step
		}
		if math.Abs(area-float64(i)) > .05 {
			t.Fatalf("request %d is due at %v, by when %v were wanted", i, due, area)
		}
	}
}

// TestPoissonGapsAreExponential checks the mean and the deviation of the gaps. Those of exponential gaps are
// equal.
func TestPoissonGapsAreExponential(t *testing.T) {
	t.Parallel()
	p := Rate(1000)
	p.Poisson = true
	const n = 20_000
	all := dues(p, 2, n)[:n] // later ones may be of one thread only
	var sum, squares float64
	for i := 1; i < n; i++ {
		gap := (all[i] - all[i-1]).Seconds()
		sum += gap
		squares += gap * gap
	}
	mean := sum / (n - 1)
	deviation := math.Sqrt(squares/(n-1) - mean*mean)
	if math.Abs(mean-.001) > .00003 || math.Abs(deviation-.001) > .00005 {
		t.Errorf("gaps of %v s, deviation %v; want 0.001 and 0.001", mean, deviation)
	}
}

func TestParseStageReadsRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Stage
		fail bool
	}{
		{"30s:1000", Stage{30 * time.Second, 1000, 1000}, false},
		{"1m:10-2.5e3", Stage{time.Minute, 10, 2500}, false},
		{"0s:10", Stage{}, true},
		{"30s", Stage{}, true},
		{"30:10", Stage{}, true},
		{"30s:", Stage{}, true},
		{"30s:-5", Stage{}, true},
		{"30s:5-", Stage{}, true},
		{"30s:NaN", Stage{}, true},
		{"30s:1e12", Stage{}, true},
	} {
		got, err := ParseStage(c.text)
		if got != c.want || (err != nil) != c.fail {
			t.Errorf("%q is %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
}

// TestParseInvertsString checks that parsePace is the inverse of String.
func TestParseInvertsString(t *testing.T) {
	t.Parallel()
	for _, p := range []Pace{
		{}, Rate(0.00001), Rate(1e6), {Stages: []Stage{{time.Minute, 0, 1e7}, {time.Second, 5, 5}}, Poisson: true},
		{Stages: []Stage{{90 * time.Second, 0.5, 10}, {0, 10, 10}}},
	} {
		got, err := Parse(p.String())
		if diff := cmp.Diff(p, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", p, err, diff)
		}
	}
	for _, text := range []string{"", "5", "x/s", "1s:", "1s:0-0"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, p)
		}
	}
}

// FuzzSchedule checks that due times do not decrease, and end with the stages.
func FuzzSchedule(f *testing.F) {
	f.Add(uint32(500), 100.0, 200.0, uint32(100), 0.0, 50.0, false)
	f.Add(uint32(1), 0.0, 0.0, uint32(1000), 1e-9, 1e9, true)
	f.Add(uint32(1000), 1e6, 0.0, uint32(1), 5.0, 5.0, false)
	f.Fuzz(func(t *testing.T, ms1 uint32, from1, to1 float64, ms2 uint32, from2, to2 float64, poisson bool) {
		stage := func(ms uint32, from, to float64) Stage {
			return Stage{time.Duration(ms%100_000+1) * time.Millisecond, from, to}
		}
		p := Pace{Stages: []Stage{stage(ms1, from1, to1), stage(ms2, from2, to2)}, Poisson: poisson}
		if p.Check() != nil {
			t.Skip()
		}
		s := NewSchedule(p, 1, 2, 3)
		before := time.Duration(0)
		for range 2000 {
			due := s.Due()
			if due == Never {
				break
			}
			if due < before || due > p.Length() {
				t.Fatalf("due at %v after %v, of %v", due, before, p.Length())
			}
			before = due
			s.Advance()
		}
		if area, want := p.DueUntil(p.Length()), p.Stages[0].area()+
			p.Stages[1].area(); math.Abs(area-want) > 1e-6*want {
			t.Fatalf("the area is %v, want %v", area, want)
		}
	})
}
