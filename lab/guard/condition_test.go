package guard_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/guard"
)

func TestConditionsAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"CPU per request > 5%":    "CPU per request > 5%",
		"cpu per request>2.5 %":   "CPU per request > 2.5%",
		" P99 > 0%":               "p99 > 0%",
		"memory > 1e2%":           "memory > 100%",
		"failed requests > 0.1%":  "failed requests > 0.1%",
		"p50 > 7%":                "p50 > 7%",
		"failed requests > 100 %": "failed requests > 100%",
	} {
		if c, err := guard.ParseCondition(text); err != nil || c.String() != want {
			t.Errorf("%q: got %q, %v; want %q", text, c, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                     "METRIC > BOUND",
		"p99 < 5%":             "METRIC > BOUND",
		"p98 > 5%":             `did you mean "p99"?`,
		"latency > 5%":         "the metrics are CPU per request, instructions per request, p50, p99, memory, failed requests",
		"p99 > 5":              "not a percentage",
		"p99 > 5ms":            "not a percentage",
		"p99 > -5%":            "not a percentage",
		"p99 > NaN%":           "not a percentage",
		"failed requests > 0%": "above 0%",
	} {
		if c, err := guard.ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v; want an error with %q", text, c, err, want)
		}
	}
}
