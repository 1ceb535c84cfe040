package log_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/weirhq/weir/log"
)

var fullRequest = log.HTTP{
	StatusCode: 200, Method: "GET", Scheme: "https", Host: "h", Port: 443, Path: "/p", Query: "q=1&token=secret",
	StartedAt: instant, EndedAt: instant.Add(time.Second), Duration: time.Second, ResponseContentLength: 5,
	Route: "/{x}", Client: "c", Protocol: "HTTP/1.1", UserAgent: "u", Referer: "https://a:b@h/?token=secret",
	RequestContentLength: 6,
}

// TestHTTPFieldLooksLikeTheEventsHTTP compares an HTTP that is a field with one that is the
// event's. The format has only one form of an http object.
func TestHTTPFieldLooksLikeTheEventsHTTP(t *testing.T) {
	for _, o := range []log.Options{{}, {Redact: []string{"token"}}, {Format: log.FormatJSONv1}} {
		for _, h := range []log.HTTP{{}, {StatusCode: 404, Query: "a=b"}, fullRequest} {
			var event struct {
				HTTP, Data json.RawMessage
			}
			line := lineWith(t, o, func(e log.Event) log.Event {
				return e.HTTP(&h).Any("any", &h).
					Object("object", func(e log.Event) { e.HTTP(&h) }).
					Array("array", func(e log.Event) { e.Any("", &h).HTTP(&h) })
			})
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			one := string(event.HTTP)
			want := `{"any":` + one + `,"object":{"http":` + one + `},"array":[` + one + `,` + one + `]}`
			if string(event.Data) != want {
				t.Errorf("got  %s\nwant %s", event.Data, want)
			}
		}
	}
}

func TestLTSVFlattensHTTPFields(t *testing.T) {
	line := lineWith(t, log.Options{Format: log.FormatLTSV, Redact: []string{"TOKEN"}}, func(e log.Event) log.Event {
		return e.Any("upstream", &fullRequest).Array("array", func(e log.Event) { e.Any("", &fullRequest) })
	})
	pairs := pairsOf(t, line)[4:]
	want := []string{"upstream.status_code:200", "upstream.method:GET", "upstream.scheme:https", "upstream.host:h",
		"upstream.port:443",
		"upstream.path:/p", "upstream.query:q=1&token=[redacted]",
		"upstream.started_at:2026-11-21T02:06:14.123456Z", "upstream.ended_at:2026-11-21T02:06:15.123456Z",
		"upstream.duration:1000000000", "upstream.response_content_length:5", "upstream.route:/{x}",
		"upstream.client:c",
		"upstream.protocol:HTTP/1.1", "upstream.user_agent:u",
		"upstream.referer:https://[redacted]@h/?token=[redacted]",
		"upstream.request_content_length:6"}
	var got []string
	for _, p := range pairs[:len(pairs)-1] {
		got = append(got, p.label+":"+p.value)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	array := pairs[len(pairs)-1]
	if !json.Valid([]byte(array.value)) || !strings.HasPrefix(array.value, `[{"status_code":200,"method":"GET",`) ||
		strings.Contains(array.value, "secret") {
		t.Errorf("array: %s", array.value)
	}
}

// TestEncodedHTTPChangesNoLine uses one EncodedHTTP for several requests and loggers, and
// compares each line with one without it.
func TestEncodedHTTPChangesNoLine(t *testing.T) {
	var known log.EncodedHTTP
	path := []byte("/a")
	changes := []func(*log.HTTP){
		func(*log.HTTP) {},
		func(h *log.HTTP) { h.StatusCode, h.EndedAt, h.Referer = 0, time.Time{}, "" },
		func(h *log.HTTP) { h.Client, h.Protocol, h.Route = "", "", "" },
		func(h *log.HTTP) { h.Method = "POST" },
		func(h *log.HTTP) { h.Scheme = "http" },
		func(h *log.HTTP) { h.Host = "g" },
		func(h *log.HTTP) { h.Port = 8443 },
		func(h *log.HTTP) { h.Query = "q=2&token=other" },
		func(h *log.HTTP) { h.Host, h.Path = "h/", "p" },
		func(h *log.HTTP) { h.Path = strings.Repeat("/long\t", 1000) },
		func(h *log.HTTP) { *h = log.HTTP{} },
		func(h *log.HTTP) { h.Path = unsafe.String(&path[0], len(path)) },
		func(h *log.HTTP) { path[1]++; h.Path = unsafe.String(&path[0], len(path)) }, // the memory of another request
	}
	options := []log.Options{
		{}, {Redact: []string{"token"}}, {Format: log.FormatLTSV}, {Format: log.FormatLTSV, Redact: []string{"token"}},
		{Format: log.FormatJSONv1, MaxEventBytes: 512},
	}
	for i, change := range changes {
		for _, o := range options {
			var w lineWriter
			logger := log.New(&w, o)
			plain := fullRequest
			change(&plain)
			encoded := plain
			encoded.Encoded = &known
			for _, h := range []*log.HTTP{&plain, &encoded, &encoded} {
				logger.Info("event").At(instant).HTTP(h).Str("a", "b").Send()
				logger.Info("event").At(instant).Str("a", "b").HTTP(h).Send() // out of order
			}
			for _, got := range w.lines {
				if got != w.lines[0] {
					t.Errorf("change %d, %+v:\n got  %s want %s", i, o, got, w.lines[0])
				}
			}
		}
	}
}
