package front_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/traceid"
)

// tracedTo sends the spans of all requests to an address.
func tracedTo(address string) func(*config.Config) {
	return func(c *config.Config) { c.Traces.To = "otlp+http://" + address }
}

// awaitSpans waits until a Collector has n spans, and returns those of each trace, the server's first.
func awaitSpans(t *testing.T, c *peer.Collector, n int) map[string][]peer.CollectorSpan {
	t.Helper()
	testkit.AwaitEqual(t, "spans", func() int { return len(c.Spans()) }, n)
	traces := map[string][]peer.CollectorSpan{}
	for _, s := range c.Spans() {
		traces[s.Trace] = append(traces[s.Trace], s)
	}
	for _, spans := range traces {
		slices.SortFunc(spans, func(a, b peer.CollectorSpan) int {
			if a.Kind != b.Kind {
				return strings.Compare(b.Kind, a.Kind) // Server, Client
			}
			return int(int64(a.Started) - int64(b.Started))
		})
	}
	return traces
}

const sampledParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestRequestHasServerAndClientSpan sends a request over each version of HTTP, and compares its spans with the
// traceparent that the upstream got and with the log.
func TestRequestHasServerAndClientSpan(t *testing.T) {
	t.Parallel()
	parents := make(chan string, 1)
	back := upstream(t, func(_ http.ResponseWriter, r *http.Request) { parents <- r.Header.Get("Traceparent") })
	c := peer.StartCollector(t)
	d := openHTTP3Door(t, back.URL, tracedTo(c.Address), func(c *config.Config) { c.Log.Redact = []string{"token"} })
	n := 0
	for version, client := range map[string]*http.Client{
		"1.1": httpClient(t), "2": h2cClient(t), "3": d.http3Client(t),
	} {
		url := d.url("/a/b?token=secret&page=2")
		if version == "3" {
			_, rest, _ := strings.Cut(url, d.addr)
			url = "https://localhost" + rest
		}
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", "tester")
		resp, _ := do(t, client, r)
		sent, id := <-parents, resp.Header.Get("X-Request-Id")
		n += 2
		spans := awaitSpans(t, c, n)[traceid.OfParent(sent)]
		if len(spans) != 2 {
			t.Fatalf("HTTP/%s: %d spans", version, len(spans))
		}
		server, try := spans[0], spans[1]
		if server.Kind != "Server" || server.Name != "GET /{path...}" || server.Parent != "" || server.Flags != 0x101 ||
			server.Status != "Unset" || server.Resource["service.name"] != "front-door" {
			t.Errorf("HTTP/%s: the span of the request is %+v", version, server)
		}
		if try.Kind != "Client" || try.Name != "GET" || try.Parent != server.Span || try.Status != "Unset" ||
			sent != "00-"+server.Trace+"-"+try.Span+"-01" {
			t.Errorf("HTTP/%s: the span of the try is %+v; the upstream got %s", version, try, sent)
		}
		if server.Started > try.Started || try.Started > try.Ended || try.Ended > server.Ended {
			t.Errorf("HTTP/%s: the times of the spans are %+v and %+v", version, server, try)
		}
		wantAttributes(t, server, map[string]any{"http.request.method": "GET", "url.path": "/a/b",
			"url.query": "token=[redacted]&page=2", "http.route": "/{path...}", "http.response.status_code": 200.0,
			"client.address": "127.0.0.1", "network.protocol.version": version, "user_agent.original": "tester",
			"weir.trace_id": id, "error.type": nil})
		host, port, _ := strings.Cut(strings.TrimPrefix(back.URL, "http://"), ":")
		wantAttributes(t, try, map[string]any{"http.request.method": "GET", "http.response.status_code": 200.0,
			"server.address": host, "server.port": float(port), "url.full": back.URL + "/a/b?token=[redacted]&page=2",
			"network.protocol.version": "1.1", "proxy_name": "site", "http.request.resend_count": nil, "error.type": nil})
		for _, e := range d.events(3 * n / 2) {
			if e.TraceID == id && !strings.Contains(e.raw, `"span_id":"`+server.Span+`"`) {
				t.Errorf("the event has another span: %s", e.raw)
			}
		}
	}
}

// float returns a number as encoding/json reads it.
func float(text string) any {
	var f float64
	fmt.Sscan(text, &f)
	return f
}

// wantAttributes compares some attributes of a span; nil is one that it does not have.
func wantAttributes(t *testing.T, s peer.CollectorSpan, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got := s.Attributes[name]; got != value {
			t.Errorf("%s of the %s span is %v, want %v", name, s.Kind, got, value)
		}
	}
}

// TestOnlyTrustedCallersDecide sends requests with the flag sampled and without it, from trusted and other clients. The
// upstream gets the decision.
func TestOnlyTrustedCallersDecide(t *testing.T) {
	t.Parallel()
	parents := make(chan string, 1)
	back := upstream(t, func(_ http.ResponseWriter, r *http.Request) { parents <- r.Header.Get("Traceparent") })
	c := peer.StartCollector(t)
	const unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	spans := 0
	for _, test := range []struct {
		name    string
		trusted bool
		share   float64
		parent  string
		traced  bool
		kept    bool // the upstream gets the traceparent of the client
	}{
		{"trusted, sampled", true, 0, sampledParent, true, false},
		{"trusted, not sampled", true, 100, unsampled, false, true},
		{"trusted, without", true, 100, "", true, false},
		{"trusted, without, none", true, 0, "", false, false},
		{"other, sampled", false, 0, sampledParent, false, false},
		{"other, not sampled", false, 100, unsampled, true, false},
		{"other, not sampled, none", false, 0, unsampled, false, true},
		{"invalid", true, 100, "00-nonsense-01", true, false},
	} {
		d := openDoor(t, back.URL, tracedTo(c.Address), func(c *config.Config) {
			c.Traces.Sample = test.share
			if test.trusted {
				c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			}
		})
		field := ""
		if test.parent != "" {
			field = "traceparent: " + test.parent + "\r\ntracestate: a=1\r\n"
		}
		ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n"+field+"\r\n")
		sent := <-parents
		if test.traced {
			spans += 2
			awaitSpans(t, c, spans) // before the end, which has a second for them
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
		if !traceParent.MatchString(sent) || traceid.IsSampled(sent) != test.traced || (sent == test.parent) != test.kept {
			t.Errorf("%s: the upstream got %s", test.name, sent)
		}
		if all := c.Spans(); len(all) != spans {
			t.Fatalf("%s: %d spans, want %d", test.name, len(all), spans)
		}
		if id := traceid.OfParent(test.parent); test.traced && id != "" {
			server := awaitSpans(t, c, spans)[id][0]
			if server.Parent != test.parent[36:52] || server.Flags != 0x301 {
				t.Errorf("%s: the span is %+v", test.name, server)
			}
		}
	}
}

// TestShareOfRequestsIsTraced compares the traced requests with the share that their trace ids choose.
func TestShareOfRequestsIsTraced(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Parent", r.Header.Get("Traceparent")) })
	c := peer.StartCollector(t)
	d := openDoor(t, back.URL, tracedTo(c.Address), func(c *config.Config) { c.Traces.Sample = 25 })
	client, traced := httpClient(t), 0
	const requests = 200
	for range requests {
		resp, _ := get(t, client, d.url("/"))
		chosen := traceid.Fraction(resp.Header.Get("X-Request-Id")) < 0.25
		if parent := resp.Header.Get("X-Parent"); traceid.IsSampled(parent) != chosen {
			t.Errorf("chosen is %v, but the upstream got %s", chosen, parent)
		}
		if chosen {
			traced++
		}
	}
	awaitSpans(t, c, 2*traced)
	if traced < requests/10 || traced > requests/2 {
		t.Errorf("%d of %d requests are traced", traced, requests)
	}
	// Ids that an untrusted client repeats are all chosen, or none.
	for range 20 {
		ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\ntraceparent: "+sampledParent+"\r\n\r\n")
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if more := len(c.Spans()) - 2*traced; more != 0 && more != 40 {
		t.Errorf("%d spans for one trace, want 0 or 40", more)
	}
}

// TestEachTryHasASpan has servers that refuse, close and respond.
func TestEachTryHasASpan(t *testing.T) {
	t.Parallel()
	good := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Parent", r.Header.Get("Traceparent")) })
	for _, test := range []struct{ name, bad, failure string }{
		{"closed", "http://" + rawUpstream(t, func(c *rawConn) { c.request() }), "closed"},
		{"refused", "http://" + testkit.ClosedAddress(t), "refused"},
		{"503", upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }).URL, "503"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := peer.StartCollector(t)
			d := openDoor(t, test.bad, tracedTo(c.Address), func(c *config.Config) {
				c.Upstreams[0].Servers = append(c.Upstreams[0].Servers, upstreams.Server{URL: good.URL, Backup: true})
				c.Upstreams[0].Retry.On = []string{"reset", "503"}
			})
			resp, _ := get(t, httpClient(t), d.url("/"))
			parent := resp.Header.Get("X-Parent")
			spans := awaitSpans(t, c, 3)[traceid.OfParent(parent)]
			if len(spans) != 3 {
				t.Fatalf("%d spans of %s", len(spans), parent)
			}
			failed, last := spans[1], spans[2]
			wantAttributes(t, spans[0], map[string]any{"http.response.status_code": 200.0, "error.type": nil})
			wantAttributes(t, failed, map[string]any{"error.type": test.failure, "http.request.resend_count": nil})
			wantAttributes(t, last, map[string]any{"error.type": nil, "http.response.status_code": 200.0,
				"http.request.resend_count": 1.0})
			if failed.Status != "Error" || last.Status != "Unset" || failed.Parent != spans[0].Span || last.Parent != spans[0].Span ||
				parent != "00-"+last.Trace+"-"+last.Span+"-01" || failed.Ended > last.Started {
				t.Errorf("the upstream got %s; the tries are %+v and %+v", parent, failed, last)
			}
			if test.failure == "503" != (failed.Attributes["http.response.status_code"] == 503.0) {
				t.Errorf("the failed try is %+v", failed)
			}
		})
	}
}

// TestFailedRequestHasFailedSpans checks the spans of a request without a response, and of one without a route.
func TestFailedRequestHasFailedSpans(t *testing.T) {
	t.Parallel()
	c := peer.StartCollector(t)
	d := openDoor(t, "http://"+rawUpstream(t, func(c *rawConn) { c.request() }), tracedTo(c.Address), func(c *config.Config) {
		c.Routes[0].Match = "GET,POST /a"
		c.Upstreams[0].Retry.Attempts = 1
	})
	get(t, httpClient(t), d.url("/a"))
	get(t, httpClient(t), d.url("/b"))
	for _, spans := range awaitSpans(t, c, 3) {
		server := spans[0]
		switch server.Name {
		case "GET /a":
			if len(spans) != 2 || server.Status != "Error" || server.Message == "" || spans[1].Status != "Error" {
				t.Errorf("the spans are %+v", spans)
			}
			wantAttributes(t, server, map[string]any{"http.response.status_code": 502.0, "error.type": "closed"})
			wantAttributes(t, spans[1], map[string]any{"http.response.status_code": nil, "error.type": "closed"})
		case "GET":
			if len(spans) != 1 || server.Status != "Unset" {
				t.Errorf("the spans are %+v", spans)
			}
			wantAttributes(t, server, map[string]any{"http.response.status_code": 404.0, "refused": "no route", "http.route": nil})
		default:
			t.Errorf("a span is %+v", server)
		}
	}
}

// TestGRPCIsTraced makes a call of gRPC to an upstream over HTTP/2.
func TestGRPCIsTraced(t *testing.T) {
	t.Parallel()
	parents := make(chan string, 1)
	service := grpcService(nil)
	back := openH2C(t, func(w http.ResponseWriter, r *http.Request) {
		parents <- r.Header.Get("Traceparent")
		service(w, r)
	})
	c := peer.StartCollector(t)
	d := openDoor(t, back.URL, withHTTP2, tracedTo(c.Address))
	r, err := http.NewRequest("POST", d.url("/echo"), strings.NewReader("message"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	do(t, h2cClient(t), r)
	sent := <-parents
	spans := awaitSpans(t, c, 2)[traceid.OfParent(sent)]
	if len(spans) != 2 || sent != "00-"+spans[1].Trace+"-"+spans[1].Span+"-01" {
		t.Fatalf("the upstream got %s; the spans are %+v", sent, spans)
	}
	wantAttributes(t, spans[0], map[string]any{"http.request.method": "POST", "url.path": "/echo"})
	wantAttributes(t, spans[1], map[string]any{"network.protocol.version": "2", "http.response.status_code": 200.0})
}

// TestExportFaultsDelayNoRequest has servers of traces that are away, silent and refuse. Requests have their responses,
// each span is counted, and an event reports the fault.
func TestExportFaultsDelayNoRequest(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	for name, address := range map[string]string{
		"away": testkit.ClosedAddress(t),
		"silent": strings.TrimPrefix(upstream(t, func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}).URL, "http://") + "?timeout=100ms",
		"refuses": strings.TrimPrefix(upstream(t, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no", 400)
		}).URL, "http://"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDoor(t, back.URL, tracedTo(address))
			client := httpClient(t)
			const requests = 50
			for range requests {
				if resp, _ := get(t, client, d.url("/")); resp.StatusCode != 200 {
					t.Fatal(resp.Status)
				}
			}
			e := d.log.find(t, func(e event) bool { return e.Event == "trace export failed" })
			if strings.Contains(e.raw, "timeout=") || !strings.Contains(e.raw, "errors") {
				t.Errorf("the event is %s", e.raw)
			}
			testkit.AwaitEqual(t, "spans", func() float64 { return d.metric(t, "weir_trace_spans_emitted_total") }, 2*requests)
			m := d.metrics(t)
			lost := m[`weir_trace_spans_dropped_total{reason="rejected"}`]
			if got := lost + m["weir_trace_queue_spans"]; got != 2*requests || m["weir_trace_spans_sent_total"] != 0 {
				t.Errorf("%v spans are rejected or wait, want %d; the metrics are %v", got, 2*requests, m)
			}
			d.close()
			if name == "refuses" {
				return
			}
			e = d.log.find(t, func(e event) bool { return e.Event == "trace export ended early" })
			if e.Data["lost"] != 2.0*requests || e.Data["emitted"] != 2.0*requests {
				t.Errorf("the last event is %s", e.raw)
			}
		})
	}
}

// TestExportRecovers has a server that accepts spans after it was away.
func TestExportRecovers(t *testing.T) {
	t.Parallel()
	c := peer.StartCollector(t)
	d := openDoor(t, upstream(t, hello).URL, tracedTo(c.Address))
	c.Fail("away")
	get(t, httpClient(t), d.url("/"))
	d.log.find(t, func(e event) bool { return e.Event == "trace export failed" })
	c.Fail("")
	d.log.find(t, func(e event) bool { return e.Event == "trace export recovered" })
	awaitSpans(t, c, 2)
}

// TestReloadChangesTheTraces changes the server of the spans, ends the traces and begins them again, under load. No span
// is lost, and each is sent once.
func TestReloadChangesTheTraces(t *testing.T) {
	t.Parallel()
	first, second := peer.StartCollector(t), peer.StartCollector(t)
	d := openDoor(t, upstream(t, hello).URL)
	var requests atomic.Int64
	stop := repeat(t, 2, func(c *http.Client) {
		get(t, c, d.url("/"))
		requests.Add(1)
	})
	have := func(c *peer.Collector, n int) {
		t.Helper()
		testkit.Await(t, "spans", func() bool { return len(c.Spans()) > n })
	}
	d.reload(tracedTo(first.Address))
	have(first, 10)
	d.reload(tracedTo(second.Address))
	have(second, 10)
	d.reload(func(c *config.Config) { c.Traces.To = "" })
	d.reload(tracedTo(first.Address + "?compression=zstd"))
	have(first, len(first.Spans()))
	stop()
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	m := d.Spans()
	ids := map[string]bool{}
	for _, s := range slices.Concat(first.Spans(), second.Spans()) {
		ids[s.Span] = true
	}
	if m.Lost() > 0 || m.Written != m.Emitted || len(ids) != int(m.Written) || len(ids) != len(first.Spans())+len(second.Spans()) {
		t.Errorf("%d spans are stored, %d different ones; the counts are %+v", len(first.Spans())+len(second.Spans()), len(ids), m)
	}
}

// TestHistogramHasExemplars scrapes in OpenMetrics and in the usual format.
func TestHistogramHasExemplars(t *testing.T) {
	t.Parallel()
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer sink.Close()
	d := openDoor(t, upstream(t, hello).URL, tracedTo(strings.TrimPrefix(sink.URL, "http://")))
	ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\ntraceparent: "+sampledParent+"\r\n\r\n")
	scrape := func(accept string) string {
		r, err := http.NewRequest("GET", "http://"+d.AdminAddr().String()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		_, page := do(t, httpClient(t), r)
		return page
	}
	const exemplar = `# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}`
	testkit.Await(t, "an exemplar", func() bool {
		return strings.Contains(scrape("application/openmetrics-text;version=1.0.0"), exemplar)
	})
	if page := scrape("text/plain"); strings.Contains(page, exemplar) {
		t.Errorf("the text format has exemplars: %s", page)
	}
}
