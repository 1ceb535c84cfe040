package log_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

var formats = []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV, log.FormatHuman}

// chance returns n pseudo-random bytes of a seed.
func chance(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestNothingSteersTheTerminal logs code points and single bytes, which may be
// invalid, in each place that accepts a text.
func TestNothingSteersTheTerminal(t *testing.T) {
	inUTC(t)
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			for c := rune(0); c <= 0x10FFFF; c += step(c) {
				everywhere(t, format, string(c)) // half of a surrogate pair becomes U+FFFD
			}
			for b := range 256 {
				everywhere(t, format, string([]byte{byte(b)}))
				everywhere(t, format, string([]byte{0xC2, byte(b)}))
				everywhere(t, format, string([]byte{0xE2, 0x80, byte(b)}))
				everywhere(t, format, "a"+string([]byte{byte(b), 'x'}))
			}
		})
	}
}

// step returns the next code point to try. It skips none where special ones
// occur.
func step(c rune) rune {
	switch {
	case c < 0x700 || 0x2000 <= c && c < 0x2070:
		return 1
	case !long:
		return 997
	case c < 0x3000:
		return 1
	}
	return 61
}

// TestEveryFormEncodesEveryCodePoint logs every code point, as a key and as a value.
func TestEveryFormEncodesEveryCodePoint(t *testing.T) {
	if !long {
		t.Skip("a million code points: set WEIR_LONG=1")
	}
	inUTC(t)
	for _, format := range formats[1:] { // TestEveryCodePointIsEncoded covers the first
		for from := rune(0); from <= 0x10FFFF; from += 0x400 {
			line := lineWith(t, log.Options{Format: format, MaxEventBytes: 1 << 20}, func(e log.Event) log.Event {
				for c := from; c < from+0x400; c++ {
					e.Str(string(c), string(c))
				}
				return e
			})
			if problem := notForTerminals(line, format == log.FormatLTSV); problem != "" {
				t.Errorf("%v: from %U on: %s", format, from, problem)
			}
		}
	}
}

// A textOf returns its text in each way that Any uses.
type textOf string

func (s textOf) String() string { return string(s) }
func (s textOf) MarshalLog(e log.Event) error {
	e.Str(string(s), string(s)).Object(string(s), func(e log.Event) { e.TraceID(string(s)) })
	return nil
}

// everywhere logs a text in each place of an event.
func everywhere(t *testing.T, format log.Format, s string) {
	t.Helper()
	var w lineWriter
	logger := log.New(&w, log.Options{Namespace: s, Format: format}).With().Str(s, s).Logger()
	logger.Info(s).At(instant).TraceID(s).SpanID(s).Auth(s, log.IdentityType(s)).
		HTTP(&log.HTTP{Method: s, Scheme: s, Host: s, Path: s, Query: s, Route: s, Client: s, Protocol: s, UserAgent: s,
			Referer: s}).
		Strs(s, []string{s}).Any(s, map[string]string{s: s}).Any(s, textOf(s)).Stringer(s, textOf(s)).
		Any(s, json.RawMessage(plainJSON(t, s))).
		Any(s, errors.New(s)).Any(s, failure(s)).
		Array(s, func(e log.Event) { e.Str("", s).Any("", textOf(s)) }).
		Err(fault{s, members{{s, s}}}).Err(failure(s)).Send()
	if problem := notForTerminals(strings.Join(w.lines, ""), format == log.FormatLTSV); problem != "" {
		t.Fatalf("%+q: %s in %q", s, problem, w.lines)
	}
	if human := format == log.FormatHuman; !human && strings.Count(w.lines[0], "\n") != 1 {
		t.Fatalf("%+q: more than one line: %q", s, w.lines)
	}
}

// A failure is an error whose MarshalLog fails with the same text.
type failure string

func (f failure) Error() string              { return string(f) }
func (f failure) MarshalLog(log.Event) error { return f }

// TestOnlyColorsReachTheTerminal feeds coloured events to a terminal.
func TestOnlyColorsReachTheTerminal(t *testing.T) {
	for seed := range uint64(2000) {
		m := (&choices{chance(seed, 400)}).model()
		line := m.log(t, log.Options{})
		r, err := record.Parse([]byte(line))
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		shown := r.AppendHuman(nil, record.HumanOptions{Color: true, Location: time.UTC})
		var vt terminal
		vt.write(string(shown))
		if vt.other != nil || vt.attributes != "" || vt.state != printing {
			t.Fatalf("sequences %q, attributes left on %q, inside of a sequence: %v; in %q", vt.other, vt.attributes,
				vt.state != printing, shown)
		}
		if vt.colored == 0 {
			t.Fatalf("no colour in %q", shown)
		}
	}
}

// TestReservedKeysKeepTheirValues logs fields with the names of reserved keys, and checks that
// these keys keep the event's own values.
func TestReservedKeysKeepTheirValues(t *testing.T) {
	for seed := range uint64(sized(300, 3000)) {
		c := &choices{chance(seed, 300)}
		m := c.model()
		if m.http != nil {
			m.http.Path, m.http.Query = "/path", "query"
		}
		for range 10 {
			m.data = append(m.data, member{c.shadow(), c.value(1)})
			m.errs = append(m.errs, fault{"message", members{{c.shadow(), c.value(2)}}})
		}
		checkReservedJSON(t, m, log.FormatJSON)
		checkReservedJSON(t, m, log.FormatJSONv1)
		checkReservedLTSV(t, m)
	}
}

// shadow returns a reserved key, or one that becomes a reserved label.
func (c *choices) shadow() string {
	all := append([]string{"created_at", "severity", "http", "auth", "data", "errors", "error"}, reservedLabels...)
	key := all[c.below(len(all))]
	switch c.below(4) {
	case 0:
		return strings.ReplaceAll(key, "_", []string{" ", ":", "\x00", "\t", "\n", "\xff", "="}[c.below(7)])
	case 1:
		return strings.ToUpper(key)
	}
	return key
}

// checkReservedJSON checks each key of the event itself in the raw line,
// because a parser keeps only the last of two equal keys.
func checkReservedJSON(t *testing.T, m *model, format log.Format) {
	t.Helper()
	line := m.log(t, log.Options{Format: format, MaxEventBytes: 1 << 20})
	var want []string
	for _, known := range []struct {
		key     string
		present bool
	}{
		{"created_at", true}, {"namespace", true}, {"event", true}, {"trace_id", m.traceID != ""},
		{"span_id", m.spanID != ""},
		{"severity", true}, {"http", m.http != nil}, {"auth", m.auth != nil}, {"data", m.data != nil},
		{"error", format == log.FormatJSONv1}, {"errors", true},
	} {
		if known.present {
			want = append(want, known.key)
		}
	}
	if got := topLevelKeys(t, line); !slices.Equal(got, want) {
		t.Fatalf("%v: keys %q, want %q in %s", format, got, want, line)
	}
	var event struct {
		CreatedAt string `json:"created_at"`
		Namespace string
		Event     string
		Severity  int
		HTTP      struct{ Path string }
	}
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	if event.CreatedAt != rfc3339(m.at) || event.Namespace != asParsed(m.namespace) ||
		event.Event != asParsed(m.event) ||
		event.Severity != int(log.LevelFatal-m.level) || m.http != nil && event.HTTP.Path != "/path" {
		t.Fatalf("%v: got %+v of %+v", format, event, m)
	}
}

func topLevelKeys(t *testing.T, line string) (keys []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
	}
	return keys
}

// checkReservedLTSV checks that each reserved label occurs as often as in the
// event itself, with the event's values.
func checkReservedLTSV(t *testing.T, m *model) {
	t.Helper()
	reserved := func(pairs []pair) (own []pair) {
		for _, p := range pairs {
			if slices.Contains(reservedLabels, p.label) {
				own = append(own, p)
			}
		}
		return own
	}
	line := m.log(t, log.Options{Format: log.FormatLTSV, MaxEventBytes: 1 << 20})
	bare := *m
	bare.data, bare.errs = nil, nil
	for _, f := range m.errs {
		bare.errs = append(bare.errs, fault{f.message, nil})
	}
	if got, want := reserved(pairsOf(t, line)), reserved(bare.ltsv(t)); !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}
