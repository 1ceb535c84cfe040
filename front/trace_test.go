package front_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestTraceIDIsTheSameEverywhere sends all kinds of trace fields. The resulting id is in the log,
// in both fields for the upstream, and in the response.
func TestTraceIDIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	type got struct{ header http.Header }
	seen := make(chan got, 1)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "the upstream's own")
		seen <- got{r.Header}
	})
	d := openDoor(t, back.URL)
	const (
		parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
		id     = "4bf92f3577b34da6a3ce929d0e0e4736"
		uuid   = "c9bf9e57-1685-4c89-bafb-ff5af830be8a"
	)
	letters := regexp.MustCompile(`^[a-zA-Z]{16}$`)
	for i, c := range []struct {
		name   string
		fields string
		id     string // "" for a generated one
		parent string // prefix of the field at the upstream; "" for any
	}{
		{"none", "", "", ""},
		{"traceparent", "traceparent: " + parent, id, parent},
		{"both", "traceparent: " + parent + "\r\nX-Request-Id: other", id, parent},
		{"traceparent twice", "traceparent: " + parent + "\r\ntraceparent: " + parent, "", ""},
		{"traceparent upper case", "traceparent: " + strings.ToUpper(parent), "", ""},
		{"traceparent all zeros", "traceparent: 00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "", ""},
		{"parent-id all zeros", "traceparent: 00-" + id + "-0000000000000000-01", "", ""},
		{"version ff", "traceparent: ff" + parent[2:], "", ""},
		{"traceparent too long", "traceparent: " + parent + "-x", "", ""},
		{"traceparent too short", "traceparent: " + parent[:54], "", ""},
		{"traceparent empty", "traceparent: ", "", ""},
		{"invalid traceparent and id", "traceparent: nonsense\r\nX-Request-Id: plain-1", "plain-1", ""},
		{"id of 16", "X-Request-Id: abcdefghijklmnop", "abcdefghijklmnop", "00-6162636465666768696a6b6c6d6e6f70-"},
		{"id of 32 hex", "X-Request-Id: " + id, id, "00-" + id + "-"},
		{"uuid", "x-request-id: " + uuid, uuid, ""},
		{"id of 128", "X-Request-Id: " + strings.Repeat("i", 128), strings.Repeat("i", 128), ""},
		{"id of 129", "X-Request-Id: " + strings.Repeat("i", 129), "", ""},
		{"id twice", "X-Request-Id: a\r\nX-Request-Id: a", "", ""},
		{"id with a space", "X-Request-Id: a b", "", ""},
		{"id with a quote", `X-Request-Id: a"b`, "", ""},
		{"id with a comma", "X-Request-Id: a,b", "", ""},
		{"id not ASCII", "X-Request-Id: a\xc2\x85b", "", ""},
		{"id empty", "X-Request-Id: ", "", ""},
	} {
		fields := c.fields
		if fields != "" {
			fields += "\r\n"
		}
		resp, _ := ask(t, d.addr, fmt.Sprintf("GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", fields))
		up := (<-seen).header
		answered := resp.Header["X-Request-Id"]
		if len(answered) != 1 || len(up["X-Request-Id"]) != 1 || len(up["Traceparent"]) != 1 {
			t.Errorf("%s: the client got %q; the upstream %q and %q", c.name, answered, up["X-Request-Id"], up["Traceparent"])
			continue
		}
		switch {
		case c.id != "" && answered[0] != c.id:
			t.Errorf("%s: id %q, want %q", c.name, answered[0], c.id)
		case c.id == "" && !letters.MatchString(answered[0]):
			t.Errorf("%s: id %q, want 16 letters", c.name, answered[0])
		case up["X-Request-Id"][0] != answered[0]:
			t.Errorf("%s: the upstream got id %q, the client %q", c.name, up["X-Request-Id"][0], answered[0])
		}
		if p := up["Traceparent"][0]; !traceParent.MatchString(p) || !strings.HasPrefix(p, c.parent) {
			t.Errorf("%s: the upstream got traceparent %q, want %q", c.name, p, c.parent)
		}
		n := 0
		for _, e := range d.events(3 * (i + 1)) {
			if e.TraceID == answered[0] {
				n++
			}
		}
		if n%3 != 0 {
			t.Errorf("%s: %d events with its id, want 3", c.name, n)
		}
	}
}

var traceParent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// TestTraceIDsDiffer sends many requests without an id on one connection.
func TestTraceIDsDiffer(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	conn := dial(t, d.addr)
	ids := make(map[string]bool)
	for range 200 {
		conn.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		resp, _ := conn.response("GET")
		ids[resp.Header.Get("X-Request-Id")] = true
	}
	if len(ids) != 200 {
		t.Errorf("%d ids for 200 requests", len(ids))
	}
}

// TestInventedTraceStateIsDropped sends a tracestate without a valid
// traceparent.
func TestInventedTraceStateIsDropped(t *testing.T) {
	t.Parallel()
	back := upstream(t,
		func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-State", r.Header.Get("Tracestate")) })
	d := openDoor(t, back.URL)
	for parent, want := range map[string]string{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": "a=1",
		"nonsense": "",
	} {
		resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\ntraceparent: "+parent+"\r\ntracestate: a=1\r\n\r\n")
		if got := resp.Header.Get("X-State"); got != want {
			t.Errorf("traceparent %s: the upstream got the state %q, want %q", parent, got, want)
		}
	}
}
