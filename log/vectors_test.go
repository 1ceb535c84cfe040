package log_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

const vectorFiles = "../testdata/vectors/*.jsonl"

// A vector is an event and its bytes in each format; see
// testdata/vectors/README.md.
type vector struct {
	Name    string
	Options struct {
		Namespace     text
		MaxEventBytes int `json:"max_event_bytes"`
		Redact        []string
	}
	CreatedAt time.Time `json:"created_at"`
	Level     log.Level
	Event     text
	With      []call
	Calls     []call

	JSON   string
	JSONv1 string `json:"json_v1"`
	LTSV   string
	Human  string
}

// A call is the name of a method and its arguments.
type call []json.RawMessage

// A text may hold any bytes.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(t))
	case '[':
		var parts []text
		err := json.Unmarshal(b, &parts)
		for _, p := range parts {
			*t += p
		}
		return err
	}
	var of struct {
		Hex    string
		Repeat text
		Times  int
	}
	if err := json.Unmarshal(b, &of); err != nil {
		return err
	}
	raw, err := hex.DecodeString(of.Hex)
	*t = text(raw) + text(strings.Repeat(string(of.Repeat), of.Times))
	return err
}

// TestEventsHaveTheBytesOfVectors logs the event of each vector in each format.
func TestEventsHaveTheBytesOfVectors(t *testing.T) {
	inUTC(t)
	files, err := filepath.Glob(vectorFiles)
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %s: %v", vectorFiles, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			for _, v := range vectorsOf(t, file) {
				t.Run(v.Name, v.check)
			}
		})
	}
}

func vectorsOf(t *testing.T, file string) (vectors []vector) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		var v vector
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func (v *vector) check(t *testing.T) {
	frames, ok := v.placeholders()
	if !ok {
		t.Skip("there are no stand-ins for these frames")
	}
	for _, form := range []struct {
		format log.Format
		want   string
	}{
		{log.FormatJSON, v.JSON},
		{log.FormatJSONv1, v.JSONv1},
		{log.FormatLTSV, v.LTSV},
		{log.FormatHuman, v.Human},
	} {
		if got, want := v.log(t, form.format), frames.Replace(form.want); got != want {
			t.Errorf("%v:\ngot  %qwant %q", form.format, got, want)
		}
	}
}

// TestVectorsMatchTheSecondEncoder checks that the expected bytes are those of the second
// implementation.
func TestVectorsMatchTheSecondEncoder(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("needs python3, which CI installs: %v", err)
	}
	out, err := exec.CommandContext(t.Context(), "python3", "../testdata/vectors/make.py", "--check").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// inUTC sets local time to UTC, as in the vectors.
func inUTC(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
}

// log returns the line of the event of v.
func (v *vector) log(t *testing.T, format log.Format) string {
	var w lineWriter
	with := log.New(&w, log.Options{
		Namespace:     string(v.Options.Namespace),
		MaxEventBytes: v.Options.MaxEventBytes,
		Redact:        v.Options.Redact,
		Format:        format,
		Level:         log.LevelDebug,
		OnError:       func(err error) { t.Errorf("OnError: %v", err) },
	}).With()
	addCalls(with, v.With)
	e := with.Logger().Log(v.Level, string(v.Event)).At(v.CreatedAt)
	addCalls(e, v.Calls)
	e.Send()
	if len(w.lines) != 1 {
		t.Fatalf("%d calls of Write, want 1", len(w.lines))
	}
	return w.lines[0]
}

func addCalls(e log.Event, calls []call) {
	for _, c := range calls {
		c.add(e)
	}
}

func (c call) add(e log.Event) {
	method := argument[string](c[0])
	if add, ok := ofEvent[method]; ok {
		add(e, c[1:])
		return
	}
	c = append(c, json.RawMessage("null"))
	ofField[method](e, string(argument[text](c[1])), c[2])
}

// argument decodes an argument. A panic here means an invalid vector.
func argument[T any](raw json.RawMessage) (v T) {
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(fmt.Errorf("%w in %s", err, raw))
	}
	return v
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func parseInt(s string) int64         { return must(strconv.ParseInt(s, 10, 64)) }
func parseUint(s string) uint64       { return must(strconv.ParseUint(s, 10, 64)) }
func parseFloat(s string) float64     { return must(strconv.ParseFloat(s, 64)) }
func parseDur(s string) time.Duration { return time.Duration(parseInt(s)) }
func parseText(s text) string         { return string(s) }

// parseTime parses RFC 3339, also with years of five digits.
func parseTime(s string) time.Time {
	if rest, ok := strings.CutPrefix(s, "10000"); ok {
		return parseTime("2000"+rest).AddDate(8000, 0, 0)
	}
	return must(time.Parse(time.RFC3339, s))
}

// scalar returns a call of a method for one value; parse converts the JSON form
// of the value in a vector.
func scalar[W, T any](
	method func(log.Event, string, T) log.Event, parse func(W) T,
) func(log.Event, string, json.RawMessage) {
	return func(e log.Event, key string, raw json.RawMessage) { method(e, key, parse(argument[W](raw))) }
}

func slice[W, T any](
	method func(log.Event, string, []T) log.Event, parse func(W) T,
) func(log.Event, string, json.RawMessage) {
	return func(e log.Event, key string, raw json.RawMessage) {
		values := []T{}
		for _, w := range argument[[]W](raw) {
			values = append(values, parse(w))
		}
		method(e, key, values)
	}
}

func nested(method func(log.Event, string, func(log.Event)) log.Event) func(log.Event, string, json.RawMessage) {
	return func(e log.Event, key string, raw json.RawMessage) {
		method(e, key, func(e log.Event) { addCalls(e, argument[[]call](raw)) })
	}
}

func asItIs[T any](v T) T { return v }

// ofField has the methods with a key.
var ofField map[string]func(log.Event, string, json.RawMessage)

func init() { // not in the declaration, because they call add
	ofField = map[string]func(log.Event, string, json.RawMessage){
		"str":     scalar((log.Event).Str, parseText),
		"bool":    scalar((log.Event).Bool, asItIs[bool]),
		"int":     scalar((log.Event).Int64, parseInt),
		"uint":    scalar((log.Event).Uint64, parseUint),
		"dur":     scalar((log.Event).Dur, parseDur),
		"float64": scalar((log.Event).Float64, parseFloat),
		"float32": scalar((log.Event).Float32,
			func(s string) float32 { return float32(must(strconv.ParseFloat(s, 32))) }),
		"time":     scalar((log.Event).Time, parseTime),
		"bytes":    scalar((log.Event).Bytes, func(s text) []byte { return []byte(s) }),
		"hex":      scalar((log.Event).Hex, func(s text) []byte { return []byte(s) }),
		"null":     scalar((log.Event).Any, asItIs[any]),
		"fail":     scalar((log.Event).Any, func(s text) any { return failingValue(s) }),
		"strs":     slice((log.Event).Strs, parseText),
		"bools":    slice((log.Event).Bools, asItIs[bool]),
		"ints":     slice((log.Event).Int64s, parseInt),
		"uints":    slice((log.Event).Uint64s, parseUint),
		"durs":     slice((log.Event).Durs, parseDur),
		"float64s": slice((log.Event).Float64s, parseFloat),
		"object":   nested((log.Event).Object),
		"array":    nested((log.Event).Array),
	}
}

// ofEvent has the methods that describe the whole event.
var ofEvent = map[string]func(log.Event, []json.RawMessage){
	"trace_id": func(e log.Event, args []json.RawMessage) { e.TraceID(string(argument[text](args[0]))) },
	"span_id":  func(e log.Event, args []json.RawMessage) { e.SpanID(string(argument[text](args[0]))) },
	"auth": func(e log.Event, args []json.RawMessage) {
		e.Auth(string(argument[text](args[0])), log.IdentityType(argument[text](args[1])))
	},
	"http": func(e log.Event, args []json.RawMessage) { e.HTTP(argument[vectorHTTP](args[0]).http()) },
	"err":  func(e log.Event, args []json.RawMessage) { e.Err(argument[vectorFailure](args[0]).error()) },
}

// A vectorHTTP is the object http of a vector.
type vectorHTTP map[string]text

func (h vectorHTTP) number(key string) int64 {
	if h[key] == "" {
		return 0
	}
	return parseInt(string(h[key]))
}

func (h vectorHTTP) time(key string) time.Time {
	if h[key] == "" {
		return time.Time{}
	}
	return parseTime(string(h[key]))
}

func (h vectorHTTP) http() *log.HTTP {
	s := func(key string) string { return string(h[key]) }
	return &log.HTTP{
		StatusCode: int(h.number("status_code")), Method: s("method"), Scheme: s("scheme"), Host: s("host"),
		Port: int(h.number("port")),
		Path: s("path"), Query: s("query"), StartedAt: h.time("started_at"), EndedAt: h.time("ended_at"),
		Duration: time.Duration(h.number("duration")), ResponseContentLength: h.number("response_content_length"),
		Route: s("route"), Client: s("client"), Protocol: s("protocol"), UserAgent: s("user_agent"),
		Referer:              s("referer"),
		RequestContentLength: h.number("request_content_length"),
	}
}

// A vectorFailure is an error of a vector.
type vectorFailure struct {
	Message text
	Stack   []frame
	Data    []call
	Fails   *text // the reason why the fields cannot be encoded
	Cause   *vectorFailure
	Join    []vectorFailure
}

type frame struct{ File, Line, Function text }

func (f vectorFailure) error() error {
	if f.Join != nil {
		var errs []error
		for _, one := range f.Join {
			errs = append(errs, one.error())
		}
		return errors.Join(errs...)
	}
	var cause error
	if f.Cause != nil {
		cause = f.Cause.error()
	}
	var err error = vectorError{string(f.Message), cause}
	if f.Data != nil || f.Fails != nil {
		err = withFields{err, f.Data, f.Fails}
	}
	if f.Stack != nil {
		err = withStack{err, callers(len(f.Stack))}
	}
	return err
}

type vectorError struct {
	message string
	cause   error
}

func (e vectorError) Error() string { return e.message }
func (e vectorError) Unwrap() error { return e.cause }

type withStack struct {
	error
	pcs []uintptr
}

func (e withStack) Callers() []uintptr { return e.pcs }
func (e withStack) Unwrap() error      { return e.error }

// A failingValue adds a field and then fails with its own text.
type failingValue text

func (v failingValue) MarshalLog(e log.Event) error {
	e.Str("half", "written")
	return errors.New(string(v))
}

type withFields struct {
	error
	data  []call
	fails *text
}

func (e withFields) Unwrap() error { return e.error }
func (e withFields) MarshalLog(event log.Event) error {
	addCalls(event, e.data)
	if e.fails != nil {
		return failingValue(*e.fails).MarshalLog(event)
	}
	return nil
}

// callers returns n program counters of different frames.
func callers(n int) []uintptr {
	var pcs []uintptr
	var descend func(depth int)
	descend = func(depth int) {
		if depth > 0 {
			descend(depth - 1)
			return
		}
		pcs = make([]uintptr, n)
		pcs = pcs[:runtime.Callers(2, pcs)]
	}
	descend(n)
	return pcs
}

// plainFrame matches files and functions that every format writes unescaped.
var plainFrame = regexp.MustCompile(`^[0-9A-Za-z/._]+$`)

// placeholders returns a replacer that changes the frames of v in its expected
// bytes to those of its error, because program counters cannot be chosen. It
// works only if the frames are plain and not cut.
func (v *vector) placeholders() (*strings.Replacer, bool) {
	var pairs []string
	for _, c := range slices.Concat(v.With, v.Calls) {
		if argument[string](c[0]) != "err" {
			continue
		}
		for f := argument[*vectorFailure](c[1]); f != nil; f = f.Cause {
			real := runtime.CallersFrames(callers(len(f.Stack)))
			for _, given := range f.Stack {
				if !plainFrame.MatchString(string(given.File+given.Function)) || v.Options.MaxEventBytes > 0 {
					return nil, false
				}
				r, _ := real.Next()
				pairs = append(pairs, given.placeholder(frame{text(r.File), text(strconv.Itoa(r.Line)),
					text(r.Function)})...)
			}
		}
	}
	return strings.NewReplacer(pairs...), true
}

// placeholder returns the old and new texts for each format.
func (f frame) placeholder(r frame) (pairs []string) {
	for _, form := range []string{`{"file":"%[1]s","line":%[2]s,"function":"%[3]s"}`, `%[3]s@%[1]s:%[2]s`,
		`%[3]s %[1]s:%[2]s`} {
		pairs = append(pairs, fmt.Sprintf(form, f.File, f.Line, f.Function),
			fmt.Sprintf(form, r.File, r.Line, r.Function))
	}
	return pairs
}
