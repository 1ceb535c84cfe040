package log_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

// Choices are the random bytes from which a model is built, from the fuzzer or
// from chance. At their end, all further bytes are 0.
type choices struct{ bytes []byte }

func (c *choices) take(n int) []byte {
	n = min(n, len(c.bytes))
	taken := c.bytes[:n]
	c.bytes = c.bytes[n:]
	return taken
}

func (c *choices) uint64() uint64 {
	var b [8]byte
	copy(b[:], c.take(8))
	return binary.LittleEndian.Uint64(b[:])
}

// below returns a number from 0 to n-1; n is at most 256.
func (c *choices) below(n int) int {
	b := c.take(1)
	if len(b) == 0 {
		return 0
	}
	return int(b[0]) % n
}

// hostile has texts that have broken logs.
var hostile = []string{
	"", "a", "two words", "\n", "\r\n", "a\tb:c", "\x00", "\x1b[31m", "\x1b]0;title\x07", "\x7f", "\x80", "\u009b2J",
	"\u0085", "\u2028", "\u2029",
	"\u202e", "\u2066", "\xff", "\xe2\x80", "\xed\xa0\x80", `"`, `\`, `\n`, `\u0000`, `{"a":1}`, "</script>", "=", ":",
	",", "a=b", "\"},\"severity\":0,\"x\":{\"",
	"日本語", "\U0001F600", "\ufffd", "__proto__", "data.status", "status code", "severity", "errors", "http", "data",
	"created_at",
}

func (c *choices) text() string {
	switch c.below(4) {
	case 0:
		return hostile[c.below(len(hostile))]
	case 1:
		return reservedLabels[c.below(len(reservedLabels))]
	case 2:
		return strings.Repeat(hostile[c.below(len(hostile))], c.below(24))
	}
	return string(c.take(c.below(24)))
}

// instant returns a time whose year has four digits.
func (c *choices) instant() time.Time {
	n := c.uint64()
	return time.Unix(int64(n>>31)%(1<<37)-1<<35, int64(n%1e9)).UTC()
}

func (c *choices) model() *model {
	parts := c.below(256)
	m := &model{namespace: c.text(), event: c.text(), at: c.instant(), level: log.Level(c.below(5)) + log.LevelDebug,
		data: c.members(0)}
	if parts&1 != 0 {
		m.traceID, m.spanID = c.text(), c.text()
	}
	if parts&2 != 0 {
		m.http = c.http()
	}
	if parts&4 != 0 {
		m.auth = &identity{c.text(), log.IdentityType(c.text())}
	}
	for range parts >> 6 {
		m.errs = append(m.errs, fault{c.text(), c.members(2)})
	}
	return m
}

func (c *choices) http() *log.HTTP {
	return &log.HTTP{
		StatusCode: c.below(256), Method: c.text(), Scheme: c.text(), Host: c.text(), Port: c.below(256),
		Path: c.text(), Query: c.text(),
		StartedAt: c.instant(), Duration: time.Duration(c.uint64() >> 1), ResponseContentLength: int64(c.uint64()),
		Route: c.text(), Client: c.text(), Protocol: c.text(), UserAgent: c.text(), Referer: c.text(),
		RequestContentLength: int64(c.below(2)),
	}
}

func (c *choices) members(depth int) (m members) {
	for range c.below(6) {
		m = append(m, member{c.text(), c.value(depth)})
	}
	return m
}

func (c *choices) value(depth int) any {
	kind := c.below(17)
	if depth > 3 {
		kind %= 14
	}
	switch kind {
	case 0, 1, 2:
		return c.text()
	case 3:
		return int64(c.uint64())
	case 4:
		return c.uint64()
	case 5:
		return math.Float64frombits(c.uint64())
	case 6:
		return math.Float32frombits(uint32(c.uint64()))
	case 7:
		return time.Duration(c.uint64())
	case 8:
		return c.instant()
	case 9:
		return c.take(c.below(20))
	case 10:
		return hexBytes(c.take(c.below(20)))
	case 11:
		return c.below(2) == 0
	case 12:
		return []string{c.text(), c.text()}
	case 13:
		return []float64{math.Float64frombits(c.uint64()), float64(c.below(3))}
	case 14:
		array := []any{}
		for range c.below(4) {
			array = append(array, c.value(depth+1))
		}
		return array
	case 15:
		return nil
	}
	m := c.members(depth + 1)
	if m == nil {
		m = members{}
	}
	return m
}

// bound returns a limit that most events keep.
func (c *choices) bound() int { return 512 << c.below(6) }

func fuzzForm(f *testing.F, check func(*testing.T, *model, int)) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01\x00\x03some text, then instants and fields \xff\xfe\xfd\xfc\xfb"))
	for seed := range uint64(200) {
		f.Add(chance(seed, 300))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2000 {
			t.Skip("as long as nothing new comes of it")
		}
		c := &choices{b}
		bound := c.bound()
		check(t, c.model(), bound)
	})
}

func FuzzJSON(f *testing.F) {
	fuzzForm(f, func(t *testing.T, m *model, bound int) { checkJSON(t, m, log.FormatJSON, bound) })
}

func FuzzJSONv1(f *testing.F) {
	fuzzForm(f, func(t *testing.T, m *model, bound int) { checkJSON(t, m, log.FormatJSONv1, bound) })
}

func FuzzLTSV(f *testing.F)  { fuzzForm(f, checkLTSV) }
func FuzzHuman(f *testing.F) { fuzzForm(f, checkHuman) }

// checkJSON compares a line with the output of encoding/json, unless that is
// longer than bound.
func checkJSON(t *testing.T, m *model, format log.Format, bound int) {
	t.Helper()
	line := m.log(t, log.Options{Format: format, MaxEventBytes: bound})
	if raw := rawControl(line); raw != "" {
		t.Fatalf("%s in %q", raw, line)
	}
	want := m.json(t, format)
	if len(want) > bound {
		if truncatedOf(t, line, bound) == nil {
			t.Fatalf("nothing was cut of %d bytes for a bound of %d: %s", len(want), bound, line)
		}
		return
	}
	if line != want {
		t.Fatalf("got  %swant %s", line, want)
	}
}

// checkLTSV compares the pairs that a naive reader gets from a line with those
// of the model. If the line was cut, it compares the pairs that are left.
func checkLTSV(t *testing.T, m *model, bound int) {
	t.Helper()
	line := m.log(t, log.Options{Format: log.FormatLTSV, MaxEventBytes: bound})
	if problem := notForTerminals(line, true); problem != "" || len(line) > bound {
		t.Fatalf("%d bytes for a bound of %d, %s: %q", len(line), bound, problem, line)
	}
	got, want := pairsOf(t, line), m.ltsv(t)
	if last := got[len(got)-1]; last.label == "truncated" {
		checkCutLTSV(t, got, want)
		return
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

// checkCutLTSV checks that the labels are a part of the expected labels, in
// order, and that values not named in truncated are complete.
func checkCutLTSV(t *testing.T, got, want []pair) {
	t.Helper()
	named := got[len(got)-1].value
	cut := strings.Split(named, ",")
	next := 0
	for _, g := range got[:len(got)-1] {
		at := slices.IndexFunc(want[next:], func(w pair) bool {
			return g == w || g.label == w.label && (named == "*" || slices.Contains(cut, g.label)) &&
				strings.HasPrefix(w.value, strings.TrimRight(g.value, `\`))
		})
		if at < 0 || at > 0 && named != "*" {
			t.Fatalf("%v was not put in, or not there\ngot  %v\nwant %v", g, got, want)
		}
		next += at + 1
	}
}

// checkHuman checks that the line contains only text, and newlines before
// indented lines.
func checkHuman(t *testing.T, m *model, bound int) {
	t.Helper()
	block := m.log(t, log.Options{Format: log.FormatHuman, MaxEventBytes: bound})
	if problem := notForTerminals(block, false); problem != "" {
		t.Fatalf("%s in %q", problem, block)
	}
}
