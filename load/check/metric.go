package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/load"
)

// A metric is the subject of a check: a number of a result, or a statistic of one of its
// distributions.
type metric struct {
	name      string // of a number, a distribution, a status or a class of them
	statistic string // of a distribution: p99, max
	quantity  quantity
}

func (m metric) String() string {
	switch {
	case m.statistic == "":
		return m.name
	case m.name == "latency":
		return m.statistic
	}
	return m.name + " " + m.statistic
}

// flag reports whether the metric is true or false.
func (m metric) flag() bool { return m.quantity == quantityFlag }

// example returns a check of this metric.
func (m metric) example() string {
	switch m.quantity {
	case quantityTime:
		return m.String() + " > 50ms"
	case quantityPart:
		return m.String() + " > 0.1% or " + m.String() + " > 10"
	}
	return m.String() + " < 1000"
}

// A quantity is the kind of value that a metric is compared with.
type quantity uint8

const (
	quantityTime quantity = iota
	quantityPart          // a number, or its share of a whole
	quantityRate
	quantityFlag
)

func (q quantity) String() string {
	return [...]string{"a time", "a number or a share of its whole", "a number", "nothing"}[q]
}

// distributions are the names of a result's latencies. A statistic without a name is
// one of latency.
var distributions = []string{"latency", "from_due", "from_sent", "answered", "first_byte", "connect", "tls", "lag"}

// A number is a metric of a result that is not a latency.
type number struct {
	name     string
	quantity quantity
	read     func(*load.Result) reading // without the metric
}

var numbers = []number{
	{"errors", quantityPart, func(r *load.Result) reading {
		all := sum(r.Errors)
		return shareOf(all, r.Sent+all-r.Failed, "requests sent and connections that failed")
	}},
	{"unanswered", quantityPart, func(r *load.Result) reading { return shareOf(r.Unanswered, r.Sent, "requests sent") }},
	{"unsent", quantityPart, func(r *load.Result) reading { return shareOf(r.Unsent, r.Asked, "requests asked for") }},
	{"wrong", quantityPart, func(r *load.Result) reading { return shareOf(r.Wrong, r.Sent, "requests sent") }},
	{"late", quantityPart, func(r *load.Result) reading { return shareOf(r.Late, r.Sent, "requests sent") }},
	{"requests", quantityPart, func(r *load.Result) reading { return shareOf(r.Requests, r.Asked, "requests asked for") }},
	{"rate", quantityRate, func(r *load.Result) reading { return reading{value: r.RequestsPerSecond} }},
	{"saturated", quantityFlag, func(r *load.Result) reading {
		switch {
		case r.MachineBusy():
			return reading{value: 1, note: "the machine was busy"}
		case r.Saturated:
			return reading{value: 1, note: "the generator was saturated"}
		}
		return reading{note: "the generator was not saturated"}
	}},
}

// shareOf returns the reading of a number and its whole.
func shareOf(n, of int64, whole string) reading {
	return reading{value: float64(n), of: float64(of), whole: whole}
}

// numberIndex returns the index of a number; -1 if there is none of that name.
func numberIndex(name string) int {
	return slices.IndexFunc(numbers, func(n number) bool { return n.name == name })
}

var statistics = []string{"p50", "p90", "p97.5", "p99", "p99.9", "p99.99", "max", "mean", "min", "stdev"}

// parseMetric reads the words before the operator.
func parseMetric(words []word) (metric, error) {
	if len(words) == 0 {
		return metric{}, &wrongWord{-1, "there is no metric; write p99 > 50ms, errors > 0.1% or saturated"}
	}
	first, most := strings.ToLower(words[0].text), 1
	if slices.Contains(distributions, first) || first == "status" {
		most = 2
	}
	switch {
	case len(words) < most:
		return metric{}, words[0].wrong("%s needs a second word; write %s", first, completion(first))
	case len(words) > most:
		return metric{}, words[most].wrong("an operator is missing before %q: one of %s",
			words[most].text, strings.Join(operators, " "))
	}
	i := numberIndex(first)
	switch {
	case first == "status":
		return parseStatus(words[1])
	case slices.Contains(distributions, first):
		return parseStatistic(first, words[1], statistics)
	case i >= 0:
		return metric{name: first, quantity: numbers[i].quantity}, nil
	case isStatus(first):
		return metric{name: first, quantity: quantityPart}, nil
	}
	known := slices.Clone(statistics)
	for _, n := range numbers {
		known = append(known, n.name)
	}
	return parseStatistic("latency", words[0], append(append(known, distributions[1:]...), "5xx", "status"))
}

// completion returns an example of a metric that begins with the word.
func completion(word string) string {
	switch word {
	case "status":
		return "status 503 or 5xx"
	case "latency":
		return "p99"
	}
	return word + " p99"
}

// isStatus reports whether s is a status such as 503, or a class such as 5xx.
func isStatus(s string) bool {
	if len(s) != 3 || s[0] < '1' || s[0] > '9' {
		return false
	}
	return s[1:] == "xx" || strings.Trim(s[1:], "0123456789") == ""
}

func parseStatus(w word) (metric, error) {
	status := strings.ToLower(w.text)
	if !isStatus(status) {
		return metric{}, w.wrong("%q is not a status; write status 503, or 5xx for a class", w.text)
	}
	return metric{name: status, quantity: quantityPart}, nil
}

// parseStatistic reads the statistic of a distribution. known are the words for the
// error message.
func parseStatistic(distribution string, w word, known []string) (metric, error) {
	s := strings.ToLower(w.text)
	m := metric{name: distribution, statistic: s, quantity: quantityTime}
	if _, ok := percentile(s); ok || slices.Contains(statistics, s) {
		return m, nil
	}
	if strings.HasPrefix(s, "p") && len(s) > 1 && strings.Trim(s[1:], "0123456789.") == "" {
		return m, w.wrong("%q is not a percentile: there are p0 to p100, with a dot as in p99.9", w.text)
	}
	return m, w.unknown("metric", known)
}

// percentile reads a percentile such as p99.9.
func percentile(s string) (float64, bool) {
	digits, ok := strings.CutPrefix(s, "p")
	if !ok || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p, err == nil && p <= 100
}

// A reading is the value of a metric: a time in microseconds, a rate, or a number and its
// whole.
type reading struct {
	metric metric
	value  float64 // infinite for a time that was never answered
	bound  bool    // the value is a lower bound
	of     float64 // the whole
	whole  string  // its name, such as "requests sent"
	from   string  // of a latency: the moment from which it counts
	note   string  // of a latency: why it is not reliable; of a flag: its text
}

// String returns a text such as "p99 from due is 51.2ms".
func (r reading) String() string {
	switch r.metric.quantity {
	case quantityTime:
		return fmt.Sprintf("%s%s is %s%s", r.metric, r.from, r.timeText(), r.note)
	case quantityRate:
		return fmt.Sprintf("%s is %.1f per second", r.metric, r.value)
	case quantityFlag:
		return r.note
	}
	text := fmt.Sprintf("%s: %.0f of %.0f %s", r.metric, r.value, r.of, r.whole)
	if r.of > 0 {
		text += fmt.Sprintf(" (%.4g%%)", 100*r.value/r.of)
	}
	return text
}

func (r reading) timeText() string {
	switch {
	case math.IsInf(r.value, 1):
		return "infinite"
	case r.bound:
		return "at least " + timeText(r.value)
	}
	return timeText(r.value)
}

// timeText returns microseconds with four digits, so that a value slightly above a bound
// looks different from it.
func timeText(us float64) string {
	unit, scale := "ns", 1e3
	switch {
	case us >= 1e6:
		unit, scale = "s", 1e-6
	case us >= 1e3:
		unit, scale = "ms", 1e-3
	case us >= 1:
		unit, scale = "µs", 1
	}
	return fmt.Sprintf("%.4g%s", us*scale, unit)
}

var errNoMetric = errors.New("it has no metric; use Parse")

// read returns the value of the metric in a result.
func (m metric) read(r *load.Result) (reading, error) {
	switch {
	case m.statistic != "":
		return m.readLatency(r)
	case m.name == "":
		return reading{}, errNoMetric
	}
	got := shareOf(withStatus(r, m.name), r.Requests+r.Wrong, "responses")
	if i := numberIndex(m.name); i >= 0 {
		got = numbers[i].read(r)
	}
	got.metric = m
	return got, nil
}

// withStatus returns the number of responses with a status such as 503, or a class such as 5xx. Those that are not as
// expected count too.
func withStatus(r *load.Result, name string) int64 {
	n := r.Status[name] + r.StatusCodes[name] // only one map has the key
	for code, wrong := range r.WrongStatusCodes {
		if code == name || name == code[:1]+"xx" {
			n += wrong
		}
	}
	return n
}

func sum(counts map[string]int64) int64 {
	var n int64
	for _, c := range counts {
		n += c
	}
	return n
}

// readLatency returns a statistic of a distribution.
func (m metric) readLatency(r *load.Result) (reading, error) {
	got := reading{metric: m}
	var l *load.Latency
	l, got.from = m.distribution(r)
	if l == nil || l.Count == 0 {
		return got, fmt.Errorf("the run has no %s: nothing was measured", m)
	}
	value, bound, err := statistic(l, m.statistic)
	got.value, got.bound = float64(value), bound
	switch missed := l.GivenUp + l.NeverAnswered; {
	case bound || value == load.NeverAnswered:
		got.note = fmt.Sprintf(": %d of %s were not answered", missed, requestsText(l.Count))
	case tooFewFor(l, m.statistic):
		got.note = fmt.Sprintf(", of %s: too few to rely on it", requestsText(l.Count))
	}
	return got, err
}

// requestsText returns a number of requests as text.
func requestsText(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// tooFewFor reports whether too few requests lie beyond a percentile for it to be
// reliable.
func tooFewFor(l *load.Latency, statistic string) bool {
	p, ok := percentile(statistic)
	return ok && p > 0 && p < 100 && l.FewBeyond(p)
}

// distribution returns the latency of the metric, nil if the result has none. from is the
// moment from which it counts, if the name does not have it.
func (m metric) distribution(r *load.Result) (l *load.Latency, from string) {
	switch m.name {
	case "from_due":
		return r.LatencyFromDue, ""
	case "from_sent":
		return r.Latency, ""
	case "answered":
		l, from := headline(r)
		if l != nil && l.Answered != nil {
			l = l.Answered
		}
		return l, from
	case "first_byte":
		return r.FirstByte, " from sent"
	case "connect":
		return r.Connect, ""
	case "tls":
		return r.TLSHandshake, ""
	case "lag":
		if r.Pacing == nil {
			return nil, ""
		}
		return r.Pacing.Lag, ""
	}
	return headline(r)
}

// headline returns the latency from due in the open loop, else from sent, and the name
// of that moment.
func headline(r *load.Result) (l *load.Latency, from string) {
	if r.LatencyFromDue != nil {
		return r.LatencyFromDue, " from due"
	}
	return r.Latency, " from sent"
}

// statistic returns a statistic, and whether it is a lower bound.
func statistic(l *load.Latency, name string) (value load.Micros, atLeast bool, err error) {
	switch name {
	case "min":
		return l.At(0)
	case "max":
		return l.At(100)
	case "mean":
		return l.Mean, slices.Contains(l.AtLeast, "mean"), nil
	case "stdev":
		if l.Stdev == load.NeverAnswered {
			return 0, false, errNoStdev
		}
		return l.Stdev, false, nil
	}
	p, _ := percentile(name)
	return l.At(p)
}

var errNoStdev = errors.New("there is no stdev: some requests were not answered, so that not all times are known")
