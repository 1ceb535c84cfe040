// Package check parses and evaluates conditions under which a load test has failed, such as
// "p99 > 50ms". A condition that the result cannot decide is an error, not a success.
package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/load"
)

// A Check is a condition under which a run has failed, such as "p99 > 50ms".
// [Parse] makes one. The methods of the zero Check return errors.
type Check struct {
	text   string
	metric metric
	holds  string // the operator; "" if the metric is a flag
	bound  float64
	share  bool // the bound is a share of a whole, not a number
}

// Parse reads a check: a metric, an operator (< <= > >= ==) and a bound.
//
// Latencies are p0 to p100 (p99, p97.5, p99.99), min, mean, max and stdev. They are
// compared with times that have a unit: 50ms, 900us, 1.5s, 800ns. They count from due in
// the open loop, else from sent. "from_due p99", "from_sent p99", "first_byte p99",
// "connect p99", "tls p99" and "lag p99" name others, and "answered p99" is of the
// answered requests. The numbers errors, wrong, unanswered, unsent, late, requests, 5xx and
// "status 503" are compared with numbers or with shares of their whole, such as 0.1%.
// rate is in whole responses per second. saturated has no operator and no bound.
func Parse(s string) (Check, error) {
	words := splitWords(s)
	at := 0
	for at < len(words) && !words[at].operator() {
		at++
	}
	m, err := parseMetric(words[:at])
	if err == nil {
		c := Check{text: strings.TrimSpace(s), metric: m}
		if err = c.parseBound(words[at:]); err == nil {
			return c, nil
		}
	}
	var wrong *wrongWord
	if !errors.As(err, &wrong) || wrong.at < 0 {
		return Check{}, fmt.Errorf("check %q: %w", s, err)
	}
	return Check{}, fmt.Errorf("check %q: column %d: %w", s, utf8.RuneCountInString(s[:wrong.at])+1, err)
}

// String returns the check as it was written.
func (c Check) String() string { return c.text }

// parseBound reads the operator and the bound.
func (c *Check) parseBound(words []word) error {
	if c.metric.flag() {
		if len(words) > 0 {
			return words[0].wrong("%s is true or false, and has no bound", c.metric.name)
		}
		return nil
	}
	if len(words) == 0 {
		return &wrongWord{-1, fmt.Sprintf("%s is compared with nothing; write %s", c.metric, c.metric.example())}
	}
	c.holds = words[0].text
	if !slices.Contains(operators, c.holds) {
		return words[0].unknown("operator", operators)
	}
	words = words[1:]
	if len(words) == 0 {
		return &wrongWord{-1, fmt.Sprintf("nothing follows %s; write %s", c.holds, c.metric.example())}
	}
	bound, extra := words[0], words[1:]
	unit := strings.TrimLeft(bound.text, "0123456789.")
	number := strings.TrimSuffix(bound.text, unit)
	if unit == "" && len(extra) > 0 {
		unit, extra = extra[0].text, extra[1:]
	}
	if len(extra) > 0 {
		return extra[0].wrong("%q is too much: a check has one bound", extra[0].text)
	}
	return c.parseNumber(bound, number, unit)
}

// parseNumber reads the bound, which begins at w.
func (c *Check) parseNumber(w word, number, unit string) error {
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return w.wrong("%q is not a number; write %s", w.text, c.metric.example())
	}
	switch {
	case c.metric.quantity == quantityTime:
		scale, ok := timeUnits[unit]
		if unit == "" {
			return w.wrong("%s has no unit; write %sms, or one of ns, us and s", number, number)
		}
		if !ok {
			return w.wrong("unknown unit %q: a time is in ns, us, ms or s", unit)
		}
		c.bound = value * scale
	case c.metric.quantity == quantityPart && unit == "%":
		if value > 100 {
			return w.wrong("%s%% is more than all", number)
		}
		c.bound, c.share = value/100, true
	case unit != "":
		return w.wrong("unknown unit %q: %s is compared with %s", unit, c.metric, c.metric.quantity)
	default:
		c.bound = value
	}
	return nil
}

// timeUnits are in microseconds. Two characters look like µ.
var timeUnits = map[string]float64{"ns": 1e-3, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6}

// Of reports whether the condition holds, so that the run has failed, and returns the
// value of the metric in words. It returns an error if the run does not have the value,
// such as the latency of no request, or if requests without a response leave the outcome
// open: a p99 of at least 10s may be above 20s or not.
func (c Check) Of(r *load.Result) (value string, holds bool, err error) {
	reading, err := c.metric.read(r)
	if err != nil {
		return "", false, fmt.Errorf("check %q: %w", c.text, err)
	}
	got := reading.value
	if reading.bound && !c.decided(got) {
		return "", false, fmt.Errorf("check %q: %s; a longer timeout would show whether it is %s %s",
			c.text, reading, c.holds, timeText(c.bound))
	}
	if c.share {
		if reading.of == 0 {
			return "", false, fmt.Errorf("check %q: there is no share of nothing: no %s", c.text, reading.whole)
		}
		got /= reading.of
	}
	return reading.String(), compare(got, c.holds, c.bound), nil
}

// decided reports whether the check has the same outcome for a lower bound and for every
// time above it.
func (c Check) decided(least float64) bool {
	if c.holds == "==" {
		return c.bound < least
	}
	return compare(least, c.holds, c.bound) == compare(math.Inf(1), c.holds, c.bound)
}

// Fits returns an error if a run of the plan cannot have the metric, such as lag in the
// closed loop or a TLS handshake over http.
func (c Check) Fits(p load.Plan) error {
	switch c.metric.name {
	case "from_due", "lag", "late":
		if !p.Pace.Open() {
			return fmt.Errorf("check %q: the plan has no Pace, and in the closed loop nothing is due: there is no %s",
				c.text, c.metric.name)
		}
	case "wrong":
		if len(p.Expect) == 0 && p.Flows == nil {
			return fmt.Errorf("check %q: the plan expects nothing of responses, so that none is wrong", c.text)
		}
	case "tls":
		if !overTLS(p) {
			return fmt.Errorf("check %q: no target is https: there is no TLS handshake", c.text)
		}
	}
	return nil
}

func overTLS(p load.Plan) bool {
	for _, t := range p.Targets {
		if len(t.URL) > 5 && strings.EqualFold(t.URL[:6], "https:") {
			return true
		}
	}
	return false
}

func compare(got float64, operator string, bound float64) bool {
	switch operator {
	case "<":
		return got < bound
	case "<=":
		return got <= bound
	case ">":
		return got > bound
	case ">=":
		return got >= bound
	case "==":
		return got == bound
	}
	return got != 0 // a flag
}
