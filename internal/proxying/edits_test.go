package proxying_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// serveEdited serves an exchange with edits of its request and response. It returns the
// request that the upstream received, and the client.
func serveEdited(
	t *testing.T, answer string, adjust func(x *proxying.Exchange),
) (*message, *fieldsOf, *proxying.Exchange) {
	t.Helper()
	got := make(chan *message, 1)
	o := openOrigin(t, answering(answer, got))
	up := openUpstream(t, proxying.Options{}, o.url)
	t.Cleanup(up.Close)
	client := new(fieldsOf)
	x := newExchange()
	x.Client = client
	adjust(x)
	(&proxying.Proxy{Upstream: up}).Serve(x)
	if x.Err != nil {
		t.Fatal(x.Err)
	}
	return <-got, client, x
}

// TestRequestFieldsAreEdited checks that fields are replaced and removed in each spelling that some
// upstreams do not distinguish, and that added ones follow the client's.
func TestRequestFieldsAreEdited(t *testing.T) {
	t.Parallel()
	sent, _, _ := serveEdited(t, ok, func(x *proxying.Exchange) {
		x.Header = []proxying.Field{{Name: "x-ENV", Value: "1"}, {Name: "X_Env", Value: "2"}, {Name: "X-Debug", Value: "3"},
			{Name: "x_debug", Value: "4"}, {Name: "Via", Value: "5"}, {Name: "X-Forwarded-Prefix", Value: "/client"}}
		x.SendHost = "inner.example:81"
		x.Send = []proxying.Field{{Name: "X-Env", Value: "prod"}, {Name: "X-Forwarded-Prefix", Value: "/api"}}
		x.SendAdd = []proxying.Field{{Name: "Via", Value: "weir"}, {Name: "Via", Value: "door"}}
		x.SendRemove = []string{"x-debug"}
	})
	want := []string{"Host: inner.example:81", "Via: 5", "X-Env: prod", "X-Forwarded-Prefix: /api", "Via: weir",
		"Via: door", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: a.example"}
	if len(sent.lines) < len(want) || !slices.Equal(sent.lines[:len(want)], want) {
		t.Errorf("the upstream received %q, want first %q", sent.lines, want)
	}
}

// TestInvalidRequestEditsAreNotSent checks that a field or a Host that would break the head is not sent.
func TestInvalidRequestEditsAreNotSent(t *testing.T) {
	t.Parallel()
	for name, adjust := range map[string]func(x *proxying.Exchange){
		"line end in a value": func(x *proxying.Exchange) { x.SendAdd = []proxying.Field{{Name: "A", Value: "1\r\nB: 2"}} },
		"zero byte":           func(x *proxying.Exchange) { x.SendAdd = []proxying.Field{{Name: "A", Value: "1\x00"}} },
		"blank in a name":     func(x *proxying.Exchange) { x.SendAdd = []proxying.Field{{Name: "A B", Value: "1"}} },
		"line end in Host":    func(x *proxying.Exchange) { x.SendHost = "a\r\nB: 2" },
	} {
		o := openOrigin(t, func(*wire) { t.Errorf("%s: the upstream is connected to", name) })
		up := openUpstream(t, proxying.Options{}, o.url)
		x := newExchange()
		adjust(x)
		(&proxying.Proxy{Upstream: up}).Serve(x)
		if x.Status != 400 || x.Err == nil {
			t.Errorf("%s: status %d, error %v", name, x.Status, x.Err)
		}
		up.Close()
	}
}

func editResponse(x *proxying.Exchange) {
	x.Response = []proxying.Field{{Name: "X-Door", Value: "weir"}}
	x.ResponseAdd = []proxying.Field{{Name: "Vary", Value: "Origin"}}
	x.ResponseRemove = []string{"server", "X-Content-Type-Options"}
}

// TestResponseFieldsAreEdited checks the edits of the fields and the trailers of a response, and that
// ResponseHeader returns the fields that the client received.
func TestResponseFieldsAreEdited(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-door: other\r\n" +
		"SERVER: bare\r\nVary: Accept\r\n\r\n" +
		"2\r\nok\r\n0\r\nX-Sum: 1\r\nServer: late\r\nX-Door: late\r\n\r\n"
	_, client, x := serveEdited(t, answer, editResponse)
	want := []proxying.Field{{Name: "Vary", Value: "Accept"}, {Name: "X-Door", Value: "weir"}, {Name: "Vary",
		Value: "Origin"}}
	if !slices.Equal(client.fields, want) || !slices.Equal(x.ResponseHeader(), want) {
		t.Errorf("the client received %q, ResponseHeader returns %q, want %q", client.fields, x.ResponseHeader(), want)
	}
	if want := []proxying.Field{{Name: "X-Sum", Value: "1"}}; !slices.Equal(client.trailer, want) {
		t.Errorf("the client received the trailers %q, want %q", client.trailer, want)
	}
}

// TestOwnResponsesAreEdited checks that a response that the proxy makes itself is edited too.
func TestOwnResponsesAreEdited(t *testing.T) {
	t.Parallel()
	client := new(fieldsOf)
	x := newExchange()
	x.Client = client
	editResponse(x)
	new(proxying.Proxy).Serve(x)
	want := []proxying.Field{{Name: "X-Door", Value: "weir"}, {Name: "Vary", Value: "Origin"},
		{Name: "Content-Type", Value: "text/plain; charset=utf-8"}, {Name: "Content-Length", Value: "16"}}
	if x.Status != 502 || !slices.Equal(client.fields, want) {
		t.Errorf("status %d with %q, want 502 with %q", x.Status, client.fields, want)
	}
	x.Response = append(x.Response, proxying.Field{Name: "content-type", Value: "text/html"})
	x.RespondWith(200, []proxying.Field{{Name: "Content-Type", Value: "text/plain"}, {Name: "Server", Value: "x"}}, "<p>")
	want = []proxying.Field{{Name: "X-Door", Value: "weir"}, {Name: "content-type", Value: "text/html"},
		{Name: "Vary", Value: "Origin"}, {Name: "Content-Length", Value: "3"}}
	if !slices.Equal(client.fields, want) {
		t.Errorf("the client received %q, want %q", client.fields, want)
	}
}

// TestSwitchingResponsesAreEdited checks that the edits apply to a 101 response.
func TestSwitchingResponsesAreEdited(t *testing.T) {
	t.Parallel()
	got := make(chan *message, 1)
	o := openOrigin(t, answering(strings.Replace(switching, "Sec-", "Server: bare\r\nSec-", 1), got))
	d := openDoor(t, func(p *proxying.Proxy) {
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			switch e {
			case proxying.Sending:
				editResponse(x)
			case proxying.Done:
				if fields := x.ResponseHeader(); !slices.Contains(fields, proxying.Field{Name: "X-Door", Value: "weir"}) {
					t.Errorf("ResponseHeader returns %q", fields)
				}
			}
		}
	}, o.url)
	w := d.dial()
	w.say(upgradeRequest)
	head, err := w.readHead()
	if err != nil {
		t.Fatal(err)
	}
	if head.get("X-Door") != "weir" || head.get("Vary") != "Origin" || head.get("Server") != "" ||
		head.get("Sec-WebSocket-Accept") != "x" {
		t.Errorf("the client received %q", head.lines)
	}
	w.Close()
}
