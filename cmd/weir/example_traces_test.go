package main

import (
	"net/http"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestTracesExampleRuns runs examples/traces with a Collector and sends the requests in its comments.
func TestTracesExampleRuns(t *testing.T) {
	t.Parallel()
	o := peer.StartCollector(t)
	p := prepare(t, "serve", "--config", "../../examples/traces/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	p.cmd.Env = append(p.cmd.Env, "OTLP_URL=otlp+http://"+o.Address,
		"SHOP_URL="+start(t, "backend", "--listen", "127.0.0.1:0").url())
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for i, request := range []struct{ path, parent string }{
		{"/cart", ""}, {"/cart?status=500&token=secret", ""}, {"/cart", "00-" + trace + "-" + caller + "-01"},
	} {
		r, err := http.NewRequest("GET", p.url()+request.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if request.parent != "" {
			r.Header.Set("Traceparent", request.parent)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		testkit.AwaitEqual(t, "spans", func() int { return len(o.Spans()) }, 2*(i+1))
		checkExampleSpans(t, o.Spans()[2*i:], i == 1, request.parent != "", trace, caller)
	}
}

// checkExampleSpans checks the two spans of a request.
func checkExampleSpans(t *testing.T, spans []peer.CollectorSpan, failed, continued bool, trace, caller string) {
	t.Helper()
	kinds := map[string]peer.CollectorSpan{}
	for _, s := range spans {
		kinds[s.Kind] = s
	}
	server, try := kinds["Server"], kinds["Client"]
	status, parent := "Unset", ""
	if failed {
		status = "Error"
	}
	if continued {
		parent = caller
	}
	if server.Name != "GET /{path...}" || server.Resource["service.name"] != "shop-door" || server.Parent != parent ||
		continued != (server.Trace == trace) || server.Status != status {
		t.Errorf("the span of the request is %+v", server)
	}
	if try.Trace != server.Trace || try.Parent != server.Span || try.Status != status {
		t.Errorf("the span of the try is %+v", try)
	}
	if failed && server.Attributes["url.query"] != "status=500&token=[redacted]" {
		t.Errorf("the query of the span is %v", server.Attributes["url.query"])
	}
}
