package otlpsink

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/weirhq/weir/log/stream"
	"github.com/weirhq/weir/log/traceid"
)

// noon is the time at which the tests convert lines.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// hostName is the name of this machine.
var hostName, _ = os.Hostname()

// A converted is a record as a reader of OTLP sees it.
type converted struct {
	service    any // the attribute of the resource, or nil
	time       uint64
	observed   uint64
	number     int32
	text       string
	body       any
	eventName  string
	trace      string
	span       string
	attributes map[string]any
}

// decode returns the records of a request. The types are those of Any in package
// log/record.
func decode(t testing.TB, request []byte) (records []converted) {
	t.Helper()
	// An ExportLogsServiceRequest has the same fields as a LogsData.
	var data logspb.LogsData
	if err := proto.Unmarshal(request, &data); err != nil {
		t.Fatal(err)
	}
	for _, r := range data.ResourceLogs {
		resource := attributesOf(t, r.Resource.Attributes)
		if host := resource[attrHostName]; host != hostName {
			t.Errorf("the host is %v, want %q", host, hostName)
		}
		for _, s := range r.ScopeLogs {
			if s.Scope.Name != logs.scope {
				t.Errorf("the scope is %q", s.Scope.Name)
			}
			for _, l := range s.LogRecords {
				records = append(records, converted{resource[attrServiceName], l.TimeUnixNano, l.ObservedTimeUnixNano,
					int32(l.SeverityNumber), l.SeverityText, anyOf(t, l.Body), l.EventName, hex.EncodeToString(l.TraceId),
					hex.EncodeToString(l.SpanId), attributesOf(t, l.Attributes)})
			}
		}
	}
	if unknown := data.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		t.Errorf("%d bytes of unknown fields", len(unknown))
	}
	return records
}

func attributesOf(t testing.TB, pairs []*commonpb.KeyValue) map[string]any {
	t.Helper()
	m := map[string]any{}
	for _, p := range pairs {
		if _, again := m[p.Key]; again {
			t.Errorf("the attribute %q occurs twice", p.Key)
		}
		m[p.Key] = anyOf(t, p.Value)
	}
	return m
}

func anyOf(t testing.TB, v *commonpb.AnyValue) any {
	t.Helper()
	switch v := v.GetValue().(type) {
	case nil:
		return nil
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_KvlistValue:
		return attributesOf(t, v.KvlistValue.Values)
	case *commonpb.AnyValue_ArrayValue:
		list := []any{}
		for _, element := range v.ArrayValue.Values {
			list = append(list, anyOf(t, element))
		}
		return list
	}
	t.Fatalf("a value of type %T", v)
	return nil
}

// convert converts lines.
func convert(t testing.TB, lines ...string) []converted {
	t.Helper()
	e := encoder{signal: &logs, now: func() time.Time { return noon }, host: hostName}
	b := stream.Batch{Lines: []byte(strings.Join(lines, "\n") + "\n"), Count: len(lines), Source: "s", First: 7}
	got := decode(t, e.request(b))
	if len(got) != len(lines) {
		t.Fatalf("%d records of %d lines", len(got), len(lines))
	}
	for i := range got {
		if uid, want := got[i].attributes[attrRecordUID], string(b.AppendID(nil, i)); uid != want {
			t.Errorf("log.record.uid is %v, want %v", uid, want)
		}
		delete(got[i].attributes, attrRecordUID)
	}
	return got
}

// expected returns the record of a line. It reads the line with encoding/json.
func expected(line string) converted {
	want := converted{observed: uint64(noon.UnixNano()), attributes: map[string]any{}}
	var members map[string]any
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&members); err != nil || members == nil || !json.Valid([]byte(line)) {
		want.body = validText(line)
		return want
	}
	o := oracle{&want}
	for key, value := range members {
		text, isText := value.(string)
		switch {
		case key == "created_at" && isText && o.createdAt(text):
		case key == "namespace" && isText:
			if text != "" {
				want.service = text
			}
		case key == "event" && isText:
			want.body, want.eventName = text, text
		case (key == "trace_id" || key == "span_id") && isText:
			trace, _ := members["trace_id"].(string)
			made := string(traceid.AppendW3C(nil, trace))
			switch {
			case text == "":
			case key == "trace_id":
				if isHex(made, 32) {
					want.trace = made
				}
				if made != text {
					want.attributes["weir.trace_id"] = text
				}
			case trace != "" && isHex(made, 32) && isHex(text, 16):
				want.span = text
			default:
				want.attributes["weir.span_id"] = text
			}
		case key == "severity" && o.severity(value):
		case key == "http" && o.each(value, o.http):
		case key == "auth" && o.each(value, o.auth):
		case key == "data" && o.each(value, o.data):
		case key == "error" && o.exception(value, "error"):
		case key == "errors" && o.errors(value, members["error"]):
		case strings.Contains(key, "."):
			want.attributes["weir.event."+key] = plain(value, 1)
		default:
			want.attributes["weir."+key] = plain(value, 1)
		}
	}
	return want
}

// An oracle fills in the record that is expected. Its methods report whether a member has the
// type of the format.
type oracle struct{ *converted }

func (o oracle) createdAt(s string) bool {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Unix() <= 0 || t.Unix() > lastSecond {
		return false
	}
	o.time = uint64(t.Unix())*1e9 + uint64(t.Nanosecond())
	o.observed = o.time
	return true
}

func (o oracle) severity(v any) bool {
	n, ok := v.(json.Number)
	i, err := strconv.Atoi(string(n))
	if !ok || err != nil || i < 0 || i > 4 || n[0] == '-' {
		return false
	}
	o.number = []int32{21, 17, 13, 9, 5}[i]
	o.text = []string{"FATAL", "ERROR", "WARN", "INFO", "DEBUG"}[i]
	return true
}

func (o oracle) each(v any, member func(key string, v any)) bool {
	m, ok := v.(map[string]any)
	for key, v := range m {
		member(key, v)
	}
	return ok
}

// httpNames are the names of the members of http with one attribute, for texts and for
// integers.
var httpNames = map[bool]map[string]string{
	true: {"scheme": "url.scheme", "host": "server.address", "path": "url.path", "query": "url.query",
		"route": "http.route", "client": "client.address", "user_agent": "user_agent.original"},
	false: {"status_code": "http.response.status_code", "port": "server.port",
		"response_content_length": "http.response.body.size", "request_content_length": "http.request.body.size"},
}

func (o oracle) http(key string, v any) {
	text, isText := v.(string)
	i, isInt := plain(v, 1).(int64)
	name := httpNames[isText][key]
	protocol := map[string]string{"HTTP/1.0": "1.0", "HTTP/1.1": "1.1", "HTTP/2.0": "2", "HTTP/3.0": "3"}[text]
	switch {
	case isText && name != "":
		o.attributes[name] = text
	case isInt && name != "":
		if i != 0 {
			o.attributes[name] = i
		}
	case key == "method" && isText && isKnownMethod(text):
		o.attributes["http.request.method"] = text
	case key == "method" && isText:
		o.attributes["http.request.method"] = "_OTHER"
		o.attributes["http.request.method_original"] = text
	case key == "protocol" && protocol != "":
		o.attributes["network.protocol.name"] = "http"
		o.attributes["network.protocol.version"] = protocol
	case key == "referer" && isText:
		o.attributes["http.request.header.referer"] = []any{text}
	default:
		o.attributes["weir.http."+key] = plain(v, 1)
	}
}

func (o oracle) auth(key string, v any) {
	if _, isText := v.(string); key == "identity" && isText {
		o.attributes["enduser.id"] = v
	} else {
		o.attributes["weir.auth."+key] = plain(v, 1)
	}
}

func (o oracle) data(key string, v any) {
	if isReserved(key) {
		key = "data." + key
	}
	o.attributes[key] = plain(v, 1)
}

func (o oracle) exception(v any, message string) bool {
	return o.each(v, func(key string, v any) {
		if text, isText := v.(string); key == message && isText {
			o.attributes["exception.message"] = text
		} else if stack, ok := stackOf(v); key == "stack_trace" && ok {
			o.attributes["exception.stacktrace"] = stack
		} else {
			o.attributes["weir.exception."+key] = plain(v, 1)
		}
	})
}

func (o oracle) errors(v, v1Error any) bool {
	list, ok := v.([]any)
	if _, v1 := v1Error.(map[string]any); v1 || !ok || len(list) == 0 || !o.exception(list[0], "message") {
		return false
	}
	if len(list) > 1 {
		o.attributes["weir.errors"] = plain(list[1:], 1)
	}
	return true
}

func stackOf(v any) (stack string, ok bool) {
	list, _ := v.([]any)
	var lines []string
	for _, v := range list {
		frame, _ := v.(map[string]any)
		function, isText := frame["function"].(string)
		file, isFile := frame["file"].(string)
		line, isInt := plain(frame["line"], 1).(int64)
		if !isText || !isFile || !isInt || line < 0 || len(frame) != 3 {
			return "", false
		}
		lines = append(lines, fmt.Sprintf("%s\n\t%s:%d", function, file, line))
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}

// plain returns a value of encoding/json in the types of decode. A deep one is the text of
// its JSON.
func plain(v any, depth int) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil && v != "-0" {
			return i
		}
		if _, err := strconv.ParseFloat(string(v), 64); err != nil || v != "-0" && !strings.ContainsAny(string(v), ".eE") {
			return string(v)
		}
		f, _ := v.Float64()
		return f
	case []any:
		if depth > maxValueDepth {
			return deep{v}
		}
		list := []any{}
		for _, element := range v {
			list = append(list, plain(element, depth+1))
		}
		return list
	case map[string]any:
		if depth > maxValueDepth {
			return deep{v}
		}
		m := map[string]any{}
		for key, value := range v {
			m[key] = plain(value, depth+1)
		}
		return m
	}
	return v
}

// A deep is a value that is nested too deep. It is equal to a text with its JSON.
type deep struct{ v any }

// same reports whether two values are equal.
func same(got, want any) bool {
	switch want := want.(type) {
	case deep:
		text, ok := got.(string)
		var v any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		return ok && dec.Decode(&v) == nil && reflect.DeepEqual(v, want.v)
	case map[string]any:
		m, ok := got.(map[string]any)
		return ok && maps.EqualFunc(m, want, same)
	case []any:
		list, ok := got.([]any)
		return ok && slices.EqualFunc(list, want, same)
	}
	return reflect.DeepEqual(got, want)
}

func check(t *testing.T, line string) {
	t.Helper()
	got, want := convert(t, line)[0], expected(line)
	if !same(got.attributes, want.attributes) {
		t.Errorf("%q: attributes\n got %#v\nwant %#v", line, got.attributes, want.attributes)
	}
	got.attributes, want.attributes = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q:\n got %+v\nwant %+v", line, got, want)
	}
}

// seeds are lines of all kinds.
var seeds = []string{
	`{"created_at":"2026-11-21T09:30:15.123456789Z","namespace":"front-door","event":"http request completed",` +
		`"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","severity":3,"http":{"status_code":200,` +
		`"method":"GET","scheme":"https","host":"example.com","port":8443,"path":"/economy","query":"page=2",` +
		`"started_at":"2026-11-21T09:30:15.12Z","ended_at":"2026-11-21T09:30:15.13Z","duration":5308123,` +
		`"response_content_length":18422,"route":"GET /{topic}","client":"192.0.2.7","protocol":"HTTP/1.1",` +
		`"user_agent":"curl/8.5","referer":"https://example.com/","request_content_length":12},` +
		`"auth":{"identity":"ann","identity_type":"user"},"data":{"proxy_name":"babbage","rows":3,"ok":true,"share":0.25,` +
		`"none":null,"tags":["a",1,{"b":[]}],"user":{"name":"x","roles":{}}},"errors":[{"message":"no route",` +
		`"stack_trace":[{"file":"/a.go","line":12,"function":"main.f"},{"file":"/b.go","line":3,"function":"main.main"}],` +
		`"data":{"host":"b"}},{"message":"closed"}],"truncated":["http.query"]}`,
	`{"created_at":"2026-11-21T09:30:15Z","namespace":"n","event":"e","severity":1,"trace_id":"kQmzRzXbAbCdEfGh",` +
		`"span_id":"00f067aa0ba902b7","error":{"error":"x","data":{"k":1}},"errors":[{"message":"y"}]}`,
	`{"created_at":"2026-11-21T09:30:15.12+01:00","event":"\u00e9\n\ud83d\ude00\ud83d","severity":0,` +
		`"http":{"status_code":0,` +
		`"method":"BREW","protocol":"HTTP/2.0"},"data":{"url.path":1,"":2,"weir.x":3,"data.url.path":4,"log.record.uid":5}}`,
	`{"created_at":5,"namespace":5,"event":5,"trace_id":5,"span_id":5,"severity":"5","http":5,"auth":[],"data":"",` +
		`"errors":{},"error":[],"truncated":0,"new":1,"http.path":2}`,
	`{"severity":7,"http":{"status_code":"200","method":null,"port":1.5,"protocol":"gopher","referer":[],"x":-0},` +
		`"auth":{"identity":1,"x":2},"errors":[{"stack_trace":[{"file":"a","line":1}]},5,{}]}`,
	`{"errors":[{"message":1,"error":"e","stack_trace":[{"file":"a","line":1,"function":"f","more":1}],"extra":{}}]}`,
	`{"errors":[]}`, `{"errors":[5,{"message":"m"}]}`, `{"error":{"message":"m","stack_trace":[]},"errors":5}`,
	`{"data":{"big":18446744073709551615,"i":-9223372036854775808,"f":1e999,"e":1E-3,"z":-0,"z2":-0.0}}`,
	`{"data":{"a":1,"a":2},"event":"x","event":"y","http":{"method":"A","method":"GET"}}`,
	`{"a":1,"a":2}}`, `{"created_at":"1969-12-31T23:59:59Z"}`, `{"created_at":"2600-01-01T00:00:00Z"}`,
	`{"created_at":"2026-11-21T9:30:15Z"}`, `{"created_at":"2026-11-21T09:30:15\u005a"}`,
	`{"created_at":"2026-11-21T09:30:15,5Z"}`, `{"created_at":"2026-11-21T09:30:15.1234567891Z"}`,
	`{}`, ` { } `, ``, `{`, `{"a":1}}`, `{"a":1} x`, `{"a":1,}`, `{,}`, `[1]`, `null`, `5`,
	"not JSON", "\xff\x00", `{"a":"` + "\xff" + `"}`,
	`{"a":[1,]}`, `{"a":"\x"}`, `{"a":"\ud83d\u0041"}`, `{"a":01}`, `{"a":tru}`,
	`{"a":"` + "\t" + `"}`, "{\"a\":1}\r", "{\"a\":1}\x00",
	`{"data":{"deep":` + strings.Repeat(`[{"a":`, 20) + `"x"` + strings.Repeat(`}]`, 20) + `}}`,
	`{"deep":` + strings.Repeat("[", 20) + "\"\xff\xff\"" + strings.Repeat("]", 20) + `}`,
	`{"a":` + strings.Repeat("[", 990) + strings.Repeat("]", 990) + `}`,
	`{"data":{"0123456789012345678901234567890123456789":"` + strings.Repeat("é", 300) + `",` +
		`"v":[` + strings.Repeat(`"x",`, 300) + `1]}}`,
}

// TestRecordsAgreeWithEncodingJSON compares the records of lines with those that encoding/json reads.
func TestRecordsAgreeWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, line := range seeds {
		check(t, line)
	}
}

// maxDepth is the nesting up to which package record reads JSON.
const maxDepth = 1000

// FuzzLines does the same with any line.
func FuzzLines(f *testing.F) {
	for _, line := range seeds {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") || strings.Count(line, "[")+strings.Count(line, "{") > maxDepth {
			t.Skip()
		}
		check(t, line)
		if !utf8.ValidString(line) || strings.Contains(line, `\u`) {
			return
		}
		// White space and line breaks change nothing. The second line is another service.
		var indented bytes.Buffer
		if json.Indent(&indented, []byte(line), "", " ") == nil {
			check(t, strings.ReplaceAll(indented.String(), "\n", "\r"))
		}
	})
}

// Lines have the same records in a batch as alone.
func TestBatchesDoNotChangeRecords(t *testing.T) {
	t.Parallel()
	for range 100 {
		lines := make([]string, 20)
		for i := range lines {
			lines[i] = seeds[rand.N(len(seeds))]
		}
		for i, got := range convert(t, lines...) {
			if want := convert(t, lines[i])[0]; !reflect.DeepEqual(got, want) {
				t.Errorf("%q after %q:\n got %+v\nwant %+v", lines[i], lines[:i], got, want)
			}
		}
	}
}

func TestBatchHoldsSeveralServices(t *testing.T) {
	t.Parallel()
	got := convert(t, `{"namespace":"a","event":"1"}`, `{"namespace":"a","event":"2"}`, `{"namespace":"b","event":"3"}`,
		`no event`, `{"event":"5","namespace":"b"}`)
	for i, want := range []any{"a", "a", "b", nil, "b"} {
		if got[i].service != want {
			t.Errorf("line %d has the service %v, want %v", i+1, got[i].service, want)
		}
	}
}
