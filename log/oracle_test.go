package log_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

// A model is the content of an event. It can be logged, and encoded in a slow
// way, by encoding/json or by hand. The bytes must be the same.
type model struct {
	namespace, event string
	at               time.Time
	level            log.Level
	traceID, spanID  string
	http             *log.HTTP
	auth             *identity
	data             members
	errs             []fault
}

type identity struct {
	Identity string           `json:"identity"`
	Type     log.IdentityType `json:"identity_type"`
}

// A member is a key and a value: nil, a bool, an int64, uint64, float64,
// float32, string, []byte, hexBytes, time.Duration, time.Time, members, []any,
// []string, []int64 or []float64, or a type that only Any accepts.
type member struct {
	key   string
	value any
}

type members []member

type hexBytes []byte

// A fault is an error with fields.
type fault struct {
	message string
	data    members
}

func (f fault) Error() string { return f.message }
func (f fault) MarshalLog(e log.Event) error {
	if len(f.data) == 0 {
		return nil
	}
	f.data.addTo(e)
	return nil
}

func (m *model) log(t testing.TB, o log.Options) string {
	t.Helper()
	var w lineWriter
	o.Namespace, o.Level = m.namespace, log.LevelDebug
	o.OnError = func(err error) { t.Errorf("OnError: %v", err) }
	logger := log.New(&w, o)
	m.addTo(logger.Log(m.level, m.event).HTTP(m.http)).Send()
	if m.http != nil { // HTTP.Encoded changes no line, neither the first nor the next
		h, known := *m.http, log.EncodedHTTP{}
		h.Encoded = &known
		for range 2 {
			m.addTo(logger.Log(m.level, m.event).HTTP(&h)).Send()
			if got := w.lines[len(w.lines)-1]; got != w.lines[0] {
				t.Fatalf("with HTTP.Encoded:\n got  %q\n want %q", got, w.lines[0])
			}
		}
		w.lines = w.lines[:1]
	}
	if len(w.lines) != 1 {
		t.Fatalf("%d calls of Write, want 1", len(w.lines))
	}
	return w.lines[0]
}

// addTo adds everything except http.
func (m *model) addTo(e log.Event) log.Event {
	e.At(m.at).TraceID(m.traceID).SpanID(m.spanID)
	if m.auth != nil {
		e.Auth(m.auth.Identity, m.auth.Type)
	}
	m.data.addTo(e)
	for _, f := range m.errs {
		if len(f.data) > 0 {
			e.Err(f)
		} else {
			e.Err(errors.New(f.message))
		}
	}
	return e
}

func (m members) addTo(e log.Event) {
	for _, one := range m {
		addTo(e, one.key, one.value)
	}
}

func addTo(e log.Event, key string, value any) {
	switch v := value.(type) {
	case members:
		e.Object(key, v.addTo)
	case []any:
		e.Array(key, func(e log.Event) {
			for _, one := range v {
				addTo(e, "", one)
			}
		})
	case bool:
		e.Bool(key, v)
	case int64:
		e.Int64(key, v)
	case uint64:
		e.Uint64(key, v)
	case float64:
		e.Float64(key, v)
	case float32:
		e.Float32(key, v)
	case string:
		e.Str(key, v)
	case []byte:
		e.Bytes(key, v)
	case hexBytes:
		e.Hex(key, v)
	case time.Duration:
		e.Dur(key, v)
	case time.Time:
		e.Time(key, v)
	case []string:
		e.Strs(key, v)
	case []int64:
		e.Int64s(key, v)
	case []float64:
		e.Float64s(key, v)
	default:
		e.Any(key, v)
	}
}

// json returns the line as encoding/json writes it, with the additional
// escapes.
func (m *model) json(t testing.TB, format log.Format) string {
	t.Helper()
	type fault struct {
		V1Message *string `json:"error,omitempty"`
		Message   *string `json:"message,omitempty"`
		Data      members `json:"data,omitempty"`
	}
	line := struct {
		CreatedAt string    `json:"created_at"`
		Namespace string    `json:"namespace"`
		Event     string    `json:"event"`
		TraceID   string    `json:"trace_id,omitempty"`
		SpanID    string    `json:"span_id,omitempty"`
		Severity  int       `json:"severity"`
		HTTP      *wireHTTP `json:"http,omitempty"`
		Auth      *identity `json:"auth,omitempty"`
		Data      members   `json:"data,omitempty"`
		Error     *fault    `json:"error,omitempty"`
		Errors    []fault   `json:"errors,omitempty"`
	}{
		CreatedAt: rfc3339(m.at), Namespace: m.namespace, Event: m.event, TraceID: m.traceID, SpanID: m.spanID,
		Severity: int(log.LevelFatal - m.level), HTTP: (*wireHTTP)(m.http), Auth: m.auth, Data: m.data,
	}
	for i, f := range m.errs {
		if format == log.FormatJSONv1 && i == 0 {
			line.Error = &fault{V1Message: &f.message, Data: f.data}
		} else {
			line.Errors = append(line.Errors, fault{Message: &f.message, Data: f.data})
		}
	}
	return additional.Replace(plainJSON(t, line)) + "\n"
}

func rfc3339(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// A wireHTTP is an HTTP with the keys of the format.
type wireHTTP log.HTTP

func (h *wireHTTP) MarshalJSON() ([]byte, error) {
	all := members{
		{"method", h.Method}, {"scheme", h.Scheme}, {"host", h.Host}, {"port", int64(h.Port)}, {"path", h.Path},
		{"query", h.Query},
		{"started_at", h.StartedAt}, {"ended_at", h.EndedAt}, {"duration", h.Duration},
		{"response_content_length", h.ResponseContentLength},
		{"route", h.Route}, {"client", h.Client}, {"protocol", h.Protocol}, {"user_agent", h.UserAgent},
		{"referer", h.Referer},
		{"request_content_length", h.RequestContentLength},
	}
	set := members{{"status_code", int64(h.StatusCode)}}
	for _, one := range all {
		switch one.value {
		case "", int64(0), time.Duration(0), time.Time{}:
		default:
			set = append(set, one)
		}
	}
	return set.MarshalJSON()
}

// MarshalJSON keeps the order of the members and duplicate keys.
func (m members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, one := range m {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := unescapedJSON(one.key)
		if err != nil {
			return nil, err
		}
		value, err := unescapedJSON(asJSON(one.value))
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// unescapedJSON is json.Marshal without the escapes for HTML.
func unescapedJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// asJSON returns the value for which encoding/json writes the JSON of the
// format.
func asJSON(value any) any {
	switch v := value.(type) {
	case float64:
		if v-v != 0 {
			return notFinite(v)
		}
	case float32:
		if v-v != 0 {
			return notFinite(float64(v))
		}
	case hexBytes:
		return hex.EncodeToString(v)
	case time.Duration:
		return int64(v)
	case time.Time:
		return rfc3339(v)
	case []float64:
		return mapped(v)
	case []any:
		return mapped(v)
	}
	return value
}

func mapped[T any](values []T) []any {
	out := []any{}
	for _, v := range values {
		out = append(out, asJSON(v))
	}
	return out
}

func notFinite(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case f > 0:
		return "+Inf"
	}
	return "-Inf"
}

// A pair is a label and an unescaped value of LTSV.
type pair struct{ label, value string }

func (p pair) String() string { return fmt.Sprintf("%s:%q", p.label, p.value) }

// ltsv returns the pairs of the event, as the table of the format defines them.
func (m *model) ltsv(t testing.TB) (pairs []pair) {
	t.Helper()
	const microseconds = "2006-01-02T15:04:05.000000Z"
	add := func(label, value string) { pairs = append(pairs, pair{label, asParsed(value)}) }
	text := func(label, value string) {
		if value != "" {
			add(label, value)
		}
	}
	number := func(label string, n int64) {
		if n != 0 {
			add(label, strconv.FormatInt(n, 10))
		}
	}
	instant := func(label string, at time.Time) {
		if !at.IsZero() {
			add(label, at.UTC().Format(microseconds))
		}
	}
	add("time", m.at.UTC().Format(microseconds))
	add("level", strings.ToUpper(m.level.String()[:1])+m.level.String()[1:])
	add("namespace", m.namespace)
	add("event", m.event)
	text("trace_id", m.traceID)
	text("span_id", m.spanID)
	if h := m.http; h != nil {
		text("host", h.Client)
		text("method", h.Method)
		text("protocol", h.Protocol)
		if h.Query == "" {
			text("uri", h.Path)
		} else {
			add("uri", h.Path+"?"+h.Query)
		}
		text("scheme", h.Scheme)
		text("vhost", h.Host)
		number("port", int64(h.Port))
		add("status", strconv.Itoa(h.StatusCode))
		if h.StatusCode != 0 || h.ResponseContentLength != 0 {
			add("size", strconv.FormatInt(h.ResponseContentLength, 10))
		}
		number("reqsize", h.RequestContentLength)
		if h.Duration != 0 {
			add("reqtime", fmt.Sprintf("%d.%06d", h.Duration/time.Second, h.Duration%time.Second/time.Microsecond))
		}
		instant("started_at", h.StartedAt)
		instant("ended_at", h.EndedAt)
		text("ua", h.UserAgent)
		text("referer", h.Referer)
		text("route", h.Route)
	}
	if m.auth != nil {
		add("identity", m.auth.Identity)
		add("identity_type", string(m.auth.Type))
	}
	pairs = append(pairs, m.data.ltsv(t, "")...)
	for _, f := range m.errs {
		add("err", f.message)
		pairs = append(pairs, f.data.ltsv(t, "")...)
	}
	return pairs
}

// ltsv returns the pairs of the fields; prefix has the keys of the enclosing
// objects.
func (m members) ltsv(t testing.TB, prefix string) (pairs []pair) {
	for _, one := range m {
		key := prefix + one.key
		if inner, ok := one.value.(members); ok && len(inner) > 0 && len(key) <= 128 {
			pairs = append(pairs, inner.ltsv(t, key+".")...)
			continue
		}
		js := additional.Replace(plainJSON(t, asJSON(one.value)))
		if js[0] == '"' {
			var s string
			if err := json.Unmarshal([]byte(js), &s); err != nil {
				t.Fatal(err)
			}
			js = s
		}
		pairs = append(pairs, pair{labelOf(key), js})
	}
	return pairs
}

var reservedLabels = strings.Fields(`time level namespace event trace_id span_id host method protocol uri scheme vhost
	port status size reqsize reqtime started_at ended_at ua referer route identity identity_type err stack truncated`)

func labelOf(key string) string {
	const kept = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-"
	label := ""
	for i := range len(key) {
		if c := key[i : i+1]; strings.Contains(kept, c) {
			label += c
		} else {
			label += "_"
		}
	}
	if label == "" {
		return "_"
	}
	for _, r := range reservedLabels {
		if label == r {
			return "data." + label
		}
	}
	return label
}

// pairsOf splits a line of LTSV in the naive way that the format promises to
// work.
func pairsOf(t testing.TB, line string) (pairs []pair) {
	t.Helper()
	for field := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\t") {
		label, value, ok := strings.Cut(field, ":")
		if !ok {
			t.Fatalf("no colon in %q of %q", field, line)
		}
		pairs = append(pairs, pair{label, unescapedLTSV.Replace(value)})
	}
	return pairs
}

// unescapedLTSV undoes the escapes of values.
var unescapedLTSV = strings.NewReplacer(func() []string {
	pairs := []string{`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r"}
	for c := rune(0); c < 0x2070; c++ {
		if rawControl(string(c)+"\n") != "" {
			pairs = append(pairs, fmt.Sprintf(`\u%04x`, c), string(c))
		}
	}
	return pairs
}()...)
