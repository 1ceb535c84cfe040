package log_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/record"
)

var formats = []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV, log.FormatHuman}

// chance returns n bytes, the same for a seed each time.
func chance(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestNothingSteersTheTerminal logs code points, each in each place that takes
// a text, and single bytes, whole characters or not.
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

// step goes to the next code point where there are any that are special, and
// leaves some out where there are none.
func step(c rune) rune {
	switch {
	case c < 0x700 || 0x2000 <= c && c < 0x2070:
		return 1
	case raceEnabled:
		return 997
	case c < 0x3000:
		return 1
	}
	return 61
}

// TestEveryCodePointInEveryForm leaves none out, as a key and as a value.
func TestEveryCodePointInEveryForm(t *testing.T) {
	if raceEnabled {
		t.Skip("there are a million, and one goroutine")
	}
	inUTC(t)
	for _, format := range formats[1:] { // TestEveryCodePoint is for the first
		for from := rune(0); from <= 0x10FFFF; from += 0x400 {
			line := lineWith(t, log.Options{Format: format, MaxEventBytes: 1 << 20}, func(e *log.Event) *log.Event {
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

// A textOf is a value that says its text in each way in which Any asks.
type textOf string

func (s textOf) String() string { return string(s) }
func (s textOf) MarshalLog(e *log.Event) error {
	e.Str(string(s), string(s)).Object(string(s), func(e *log.Event) { e.TraceID(string(s)) })
	return nil
}

// everywhere logs a text in each place of an event.
func everywhere(t *testing.T, format log.Format, s string) {
	t.Helper()
	var w lineWriter
	logger := log.New(&w, log.Options{Namespace: s, Format: format}).With().Str(s, s).Logger()
	logger.Info(s).At(instant).TraceID(s).SpanID(s).Auth(s, log.IdentityType(s)).
		HTTP(&log.HTTP{Method: s, Scheme: s, Host: s, Path: s, Query: s, Route: s, Client: s, Protocol: s, UserAgent: s, Referer: s}).
		Strs(s, []string{s}).Any(s, map[string]string{s: s}).Any(s, textOf(s)).Stringer(s, textOf(s)).Any(s, json.RawMessage(plainJSON(t, s))).
		Any(s, errors.New(s)).Any(s, failure(s)).
		Array(s, func(e *log.Event) { e.Str("", s).Any("", textOf(s)) }).
		Err(fault{s, members{{s, s}}}).Err(failure(s)).Send()
	if problem := notForTerminals(strings.Join(w.lines, ""), format == log.FormatLTSV); problem != "" {
		t.Fatalf("%+q: %s in %q", s, problem, w.lines)
	}
	if human := format == log.FormatHuman; !human && strings.Count(w.lines[0], "\n") != 1 {
		t.Fatalf("%+q: more than one line: %q", s, w.lines)
	}
}

// A failure is an error whose fields fail, for the reason that it is.
type failure string

func (f failure) Error() string               { return string(f) }
func (f failure) MarshalLog(*log.Event) error { return f }

// TestColorsAloneReachTheTerminal lets a terminal read coloured events.
func TestColorsAloneReachTheTerminal(t *testing.T) {
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
			t.Fatalf("sequences %q, attributes left on %q, inside of a sequence: %v; in %q", vt.other, vt.attributes, vt.state != printing, shown)
		}
		if vt.colored == 0 {
			t.Fatalf("no colour in %q", shown)
		}
	}
}

// notForTerminals returns what of a block of lines does more to a terminal than
// to print, or "". A tab is nothing of that sort where it separates pairs.
func notForTerminals(block string, tabs bool) string {
	if tabs {
		block = strings.ReplaceAll(block, "\t", " ")
	}
	for i, line := range slices.Collect(strings.Lines(block)) {
		if raw := rawControl(line); raw != "" {
			return raw
		}
		if i > 0 && !strings.HasPrefix(line, "    ") {
			return fmt.Sprintf("line %q, which is not indented", line)
		}
	}
	var vt terminal
	vt.write(block)
	if vt.other != nil || vt.colored > 0 || vt.state != printing {
		return fmt.Sprintf("sequences %q", vt.other)
	}
	return ""
}

// A terminal is as much of one as it takes to notice that a text does more than
// to print: it follows the parser of ECMA-48 for 7 and 8 bits.
type terminal struct {
	state      state
	sequence   string   // what was read of one
	attributes string   // that SGR has left on
	colored    int      // how often SGR put some on
	other      []string // sequences and controls that are none of print, newline or SGR
}

type state int

const (
	printing state = iota
	escape         // after ESC
	csi            // after CSI, until a final byte
	text8          // in an OSC, DCS, SOS, PM or APC, until ST or BEL
)

func (v *terminal) write(s string) {
	for _, c := range s {
		switch v.state {
		case printing:
			v.print(c)
		case escape:
			v.escaped(c)
		case csi:
			v.sequence += string(c)
			if c >= 0x40 && c <= 0x7E {
				v.control()
			}
		case text8:
			if c == 0x07 || c == 0x9C {
				v.state = printing
			}
		}
	}
}

func (v *terminal) print(c rune) {
	v.sequence = ""
	switch {
	case c == 0x1B:
		v.state = escape
	case c == 0x9B:
		v.state = csi
	case c == 0x90 || c == 0x98 || c >= 0x9D && c <= 0x9F:
		v.state = text8
		v.other = append(v.other, string(c))
	case c < ' ' && c != '\n' || c >= 0x7F && c < 0xA0:
		v.other = append(v.other, string(c))
	}
}

func (v *terminal) escaped(c rune) {
	switch c {
	case '[':
		v.state = csi
	case ']', 'P', 'X', '^', '_':
		v.state = text8
		v.other = append(v.other, "ESC "+string(c))
	default:
		v.state = printing
		v.other = append(v.other, "ESC "+string(c))
	}
}

// control acts on a whole CSI sequence.
func (v *terminal) control() {
	v.state = printing
	attributes, ok := strings.CutSuffix(v.sequence, "m")
	switch {
	case !ok || strings.Trim(attributes, "0123456789;") != "":
		v.other = append(v.other, "CSI "+v.sequence)
	case attributes == "" || attributes == "0":
		v.attributes = ""
	default:
		v.attributes = attributes
		v.colored++
	}
}

func TestTerminalNotices(t *testing.T) {
	for _, c := range []struct{ block, want string }{
		{"text, 日本語\n    more\n", ""},
		{"\x1b[31mred", `other [], left on "31", 1 times`},
		{"\x1b[1;31mred\x1b[0m", `other [], left on "", 1 times`},
		{"\x1b[2J", `other ["CSI 2J"], left on "", 0 times`},
		{"\u009b5;1H", `other ["CSI 5;1H"], left on "", 0 times`},
		{"\x1b[?25l\x1bc", `other ["CSI ?25l" "ESC c"], left on "", 0 times`},
		{"\x1b]0;title\x07\r", `other ["ESC ]" "\r"], left on "", 0 times`},
		{"\u0090payload\u009c\u0085", `other ["\u0090" "\u0085"], left on "", 0 times`},
		{"\x1b[>4;2m", `other ["CSI >4;2m"], left on "", 0 times`},
		{"a\x00\x7f\x0e", `other ["\x00" "\x7f" "\x0e"], left on "", 0 times`},
	} {
		var vt terminal
		vt.write(c.block)
		got := ""
		if vt.other != nil || vt.colored > 0 {
			got = fmt.Sprintf("other %q, left on %q, %d times", vt.other, vt.attributes, vt.colored)
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.block, got, c.want)
		}
	}
}

// TestReservedKeysAreTheEvents logs fields that are named after what the format
// has names for, and looks that these still say what the event said.
func TestReservedKeysAreTheEvents(t *testing.T) {
	seeds := uint64(3000)
	if raceEnabled {
		seeds = 300
	}
	for seed := range seeds {
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

// shadow returns a key that is, or in a label becomes, a reserved one.
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

// checkReservedJSON looks at each key of the event itself, as it stands in the
// line, for a parser keeps only the last of two.
func checkReservedJSON(t *testing.T, m *model, format log.Format) {
	t.Helper()
	line := m.log(t, log.Options{Format: format, MaxEventBytes: 1 << 20})
	var want []string
	for _, known := range []struct {
		key     string
		present bool
	}{
		{"created_at", true}, {"namespace", true}, {"event", true}, {"trace_id", m.traceID != ""}, {"span_id", m.spanID != ""},
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
	if event.CreatedAt != rfc3339(m.at) || event.Namespace != asParsed(m.namespace) || event.Event != asParsed(m.event) ||
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

// checkReservedLTSV looks that each reserved label stands as often as the event
// itself has it and says what the event says.
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

// A foreign is a program in another language, which reads lines from its
// standard input and writes for each what it has understood, as JSON.
type foreign struct {
	name    string
	command []string
}

// readers are the parsers of others, and what Go makes of a line.
var readers = []struct {
	format  log.Format
	decode  func(*testing.T, string) any
	foreign []foreign
}{
	{log.FormatJSON, decoded, []foreign{
		{"python", []string{"python3", "-c", `
import json, sys
for line in sys.stdin:
    print(json.dumps(json.loads(line)))`}},
		{"node", []string{"node", "-e", `
const lines = require("fs").readFileSync(0, "utf8").split("\n");
lines.pop();
process.stdout.write(lines.map((line) => JSON.stringify(JSON.parse(line)) + "\n").join(""));`}},
		{"jq", []string{"jq", "-c", "."}},
	}},
	{log.FormatLTSV, labelsOf, []foreign{
		{"python", []string{"python3", "-c", `
import json, sys
sys.stdin.reconfigure(encoding="utf-8", errors="strict")
for line in sys.stdin:
    for more in line[:-1].splitlines():
        print(json.dumps([pair.split(":", 1)[0] for pair in more.split("\t")]))`}},
		{"node", []string{"node", "-e", `
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => console.log(JSON.stringify(line.split("\t").map((pair) => pair.split(":", 1)[0]))));`}},
		{"jq", []string{"jq", "-R", "-c", `split("\t") | map(split(":")[0])`}},
	}},
}

// TestOthersReadTheSame lets parsers of other languages read lines that chance
// has made, a part at a time, since what Go has read has to be kept meanwhile.
func TestOthersReadTheSame(t *testing.T) {
	const parts = 5
	each := 100_000 / parts
	if testing.Short() || raceEnabled {
		each /= 20 // the parsers of others do not share memory with us
	}
	for _, r := range readers {
		for part := range parts {
			t.Run(fmt.Sprintf("%v %d", r.format, part), func(t *testing.T) {
				var input bytes.Buffer
				want := make([]any, each)
				for i := range want {
					line := (&choices{chance(uint64(part*each+i), 10+i%90)}).model().log(t, log.Options{Format: r.format})
					input.WriteString(line)
					want[i] = r.decode(t, line)
				}
				for _, f := range r.foreign {
					t.Run(f.name, func(t *testing.T) {
						t.Parallel()
						f.compare(t, input.Bytes(), want)
					})
				}
			})
		}
	}
}

// compare looks that the program understands each line as wanted.
func (f foreign) compare(t *testing.T, input []byte, want []any) {
	if _, err := exec.LookPath(f.command[0]); err != nil {
		t.Fatalf("%s has to be installed: %v", f.command[0], err)
	}
	cmd := exec.CommandContext(t.Context(), f.command[0], f.command[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d", len(lines), len(want))
	}
	for i, line := range lines {
		if got := decoded(t, string(line)); !reflect.DeepEqual(got, want[i]) {
			t.Fatalf("line %d: got %v\nwant %v", i, got, want[i])
		}
	}
}

func decoded(t *testing.T, line string) (v any) {
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return v
}

func labelsOf(t *testing.T, line string) any {
	labels := []any{}
	for _, p := range pairsOf(t, line) {
		labels = append(labels, p.label)
	}
	return labels
}
