package compare_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/compare"
)

// TestChecksCompareTwoSides compares six runs per side, where B has 5% less rate and 10% more
// latency, and one run per side.
func TestChecksCompareTwoSides(t *testing.T) {
	var a, b []*load.Result
	for i := range uint64(6) {
		a, b = append(a, made(t, i, 3, 1000, 300)), append(b, made(t, 10+i, 3, 950, 330))
	}
	for _, c := range []struct {
		check string
		a, b  []*load.Result
		holds bool
		why   string // or an error
	}{
		{"worse", a, b, true, "p50 from sent +"},
		{"worse", a, a, false, ""},
		{"worse", b, a, false, ""},
		{"worse", a[:1], b[:1], false, "the runs are too few"},
		{"p50 > 1%", a, b, true, "p50 from sent +"},
		{"p50 > 50%", a, b, false, ""},
		{"rate < -1%", a, b, true, "requests per second -"},
		{" rate<-50% ", a, b, false, ""},
		{"memory > 0%", a, b, false, ""}, // noise
		{"p50 > 1%", a[:1], b[:1], true, ", untested"},
		{"errors > 1%", a, b, false, ""},
	} {
		check, err := compare.ParseCheck(c.check)
		if err != nil {
			t.Fatal(err)
		}
		why, holds, err := check.Of(mustCompare(t, c.a, c.b))
		if err != nil {
			why = err.Error()
		}
		if holds != c.holds || !strings.Contains(why, c.why) {
			t.Errorf("%q of %d runs against %d: %v, %q; want %v, %q", c.check, len(c.a), len(c.b), holds,
				why, c.holds, c.why)
		}
	}
}

// An infinite latency is above any bound.
func TestUnansweredExceedsEachBound(t *testing.T) {
	a := made(t, 1, 3, 1000, 300)
	b := without(t, made(t, 2, 3, 1000, 300), 0)
	check, err := compare.ParseCheck("p99 > 1000%")
	if err != nil {
		t.Fatal(err)
	}
	if why, holds, err := check.Of(mustCompare(t, one(a), one(b))); !holds || err != nil {
		t.Errorf("%v of a run in which one of ten requests was never answered: %v, %q, %v", check, holds, why, err)
	}
}

func TestParseCheckReportsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":             "has no < or >",
		"better":       "has no < or >",
		"p99 > 50ms":   `"50ms" is not a difference in %`,
		"p98 > 5%":     `there is no metric "p98"`,
		"p99 >= 5%":    `"= 5%" is not a difference in %`,
		"latency > 5%": `there is no metric "latency"`,
	} {
		if _, err := compare.ParseCheck(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseCheck(%q): %v, want %q", text, err, want)
		}
	}
}
