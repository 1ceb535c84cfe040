package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/proxy"
)

// doors starts a Proxy and a ReverseProxy of httputil with the same hooks.
func doors(t *testing.T, origin string, p proxy.Proxy) map[string]string {
	target, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	p.Upstream = openUpstream(t, proxy.Options{}, origin)
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	peer := &httputil.ReverseProxy{Transport: transport, ModifyResponse: p.ModifyResponse, ErrorHandler: p.ErrorHandler,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
			if p.Rewrite != nil {
				p.Rewrite(r)
			}
		}}
	return map[string]string{"weir": testkit.Serve(t, &p).URL, "httputil": testkit.Serve(t, peer).URL}
}

// A received is a request that an origin got.
type received struct {
	Method, Target, Host, Body string
	Header, Trailer            http.Header
}

// echo responds with the request as JSON.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	for _, name := range []string{"Forwarded", "Connection", "Content-Length"} { // the proxies have their own
		r.Header.Del(name)
	}
	json.NewEncoder(w).Encode(received{r.Method, r.RequestURI, r.Host, string(body), r.Header, r.Trailer})
}

// TestRewriteAgreesWithReverseProxy compares the requests that an origin gets from both proxies.
func TestRewriteAgreesWithReverseProxy(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(echo)).URL
	for name, rewrite := range map[string]func(*httputil.ProxyRequest){
		"nothing": func(*httputil.ProxyRequest) {},
		"target": func(r *httputil.ProxyRequest) {
			r.Out.Method, r.Out.URL.Path, r.Out.URL.RawQuery = "PUT", "/b c/"+r.In.URL.Path, "q=1&q=%20"
		},
		"host": func(r *httputil.ProxyRequest) { r.Out.Host = "b.example" },
		"fields": func(r *httputil.ProxyRequest) {
			r.Out.Header["X-User"] = []string{"a", "b"}
			r.Out.Header.Del("X-Client")
		},
		"named in Connection": func(r *httputil.ProxyRequest) { // the client names X-Hop there
			r.Out.Header.Set("X-Hop", r.Out.Header.Get("X-Hop")+"!")
		},
		"hop-by-hop": func(r *httputil.ProxyRequest) { r.Out.Header.Set("Keep-Alive", "1") },
		"body": func(r *httputil.ProxyRequest) {
			r.Out.Body, r.Out.ContentLength = io.NopCloser(strings.NewReader("other")), 5
		},
		"streamed body": func(r *httputil.ProxyRequest) {
			r.Out.Body, r.Out.ContentLength = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(strings.NewReader("before "), r.Out.Body), r.Out.Body}, -1
		},
		"no body": func(r *httputil.ProxyRequest) { r.Out.Body, r.Out.ContentLength = http.NoBody, 0 },
		"replaced": func(r *httputil.ProxyRequest) {
			r.Out = r.Out.Clone(r.Out.Context())
			r.Out.Host = "b.example"
			r.Out.Header.Del("X-Client")
		},
		"new": func(r *httputil.ProxyRequest) {
			r.Out = &http.Request{URL: r.Out.URL, Host: "b.example", Header: r.Out.Header}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[string]received{}
			for which, url := range doors(t, origin, proxy.Proxy{Rewrite: rewrite}) {
				r := newRequest(t, "POST", url+"/a%2Fb?x=%20", strings.Repeat("body", 10_000))
				r.Host, r.ContentLength = "a.example", -1
				r.Header = http.Header{"X-Client": {"1"}, "X-Hop": {"2"}, "Connection": {"X-Hop, Te"}, "Te": {"trailers"},
					"X-Forwarded-For": {"192.0.2.1"}, "User-Agent": {"test"}}
				_, body := send(t, r)
				var request received
				if err := json.Unmarshal([]byte(body), &request); err != nil {
					t.Fatalf("%s: %v: %q", which, err, body)
				}
				if name == "hop-by-hop" { // httputil sends what Rewrite sets, although net/http treats it as its own
					delete(request.Header, "Keep-Alive")
				}
				got[which] = request
			}
			if diff := cmp.Diff(got["httputil"], got["weir"]); diff != "" {
				t.Errorf("the origin got (- from httputil, + from weir):\n%s", diff)
			}
		})
	}
}

// TestUnparsableQueryAgreesWithReverseProxy compares the queries that an origin gets from both proxies: with Rewrite, they
// have only the parameters that Rewrite can see, unless it takes those of In.
func TestUnparsableQueryAgreesWithReverseProxy(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RequestURI)
	})).URL
	for name, rewrite := range map[string]func(*httputil.ProxyRequest){
		"nothing": func(*httputil.ProxyRequest) {},
		"of In":   func(r *httputil.ProxyRequest) { r.Out.URL.RawQuery = r.In.URL.RawQuery },
	} {
		both := doors(t, origin, proxy.Proxy{Rewrite: rewrite})
		for _, query := range []string{"b=2&a=%20", "b=1&admin=1;c=2&a=3", "b=%zz&a=1", "a;b", "%", ""} {
			_, want := send(t, newRequest(t, "GET", both["httputil"]+"/?"+query, ""))
			if _, got := send(t, newRequest(t, "GET", both["weir"]+"/?"+query, "")); got != want {
				t.Errorf("%s: the origin got %s for %s, want %s", name, got, query, want)
			}
		}
	}
}

// TestReplacedRequestKeepsItsClient checks that a request that replaces Out is that of the client's connection, and that
// the request of the client is not changed if it is In.
func TestReplacedRequestKeepsItsClient(t *testing.T) {
	t.Parallel()
	up := openUpstream(t, proxy.Options{}, testkit.Serve(t, http.HandlerFunc(echo)).URL)
	headers := make(chan http.Header, 1)
	p := &proxy.Proxy{Upstream: up, Rewrite: func(r *httputil.ProxyRequest) { r.Out = r.In }}
	door := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.ServeHTTP(w, r)
		headers <- r.Header
	})).URL
	r := newRequest(t, "GET", door, "")
	r.Header = http.Header{"X-Forwarded-For": {"192.0.2.1"}, "Connection": {"Te"}, "Te": {"trailers"}}
	_, body := send(t, r)
	var got received
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if of := got.Header["X-Forwarded-For"]; len(of) != 1 || of[0] != "127.0.0.1" {
		t.Errorf("the upstream got X-Forwarded-For %q", of)
	}
	if h := <-headers; h.Get("X-Forwarded-For") != "192.0.2.1" || h.Get("Te") != "trailers" {
		t.Errorf("the request of the client has the header %v", h)
	}
}

// TestRewriteKeepsForwardingFields checks that Rewrite cannot change the fields about the way of a request, that the
// client's Host remains X-Forwarded-Host, and that trailers of the client are sent.
func TestRewriteKeepsForwardingFields(t *testing.T) {
	t.Parallel()
	up := openUpstream(t, proxy.Options{}, testkit.Serve(t, http.HandlerFunc(echo)).URL)
	door := testkit.Serve(t, &proxy.Proxy{Upstream: up, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.Host = "b.example"
		r.Out.Header.Set("X-Forwarded-For", "192.0.2.1")
		r.Out.Header.Set("x_forwarded_proto", "https")
	}}).URL
	r := newRequest(t, "POST", door, "")
	r.Host, r.Body, r.ContentLength = "a.example", io.NopCloser(strings.NewReader("body")), -1
	r.Trailer = http.Header{"X-Sum": {"1"}}
	_, body := send(t, r)
	var got received
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := http.Header{"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Host": {"a.example"}, "X-Forwarded-Proto": {"http"}}
	maps.DeleteFunc(got.Header, func(name string, _ []string) bool {
		return !strings.HasPrefix(strings.ReplaceAll(name, "_", "-"), "X-")
	})
	if diff := cmp.Diff(want, got.Header); diff != "" || got.Host != "b.example" {
		t.Errorf("for %s, the upstream got (-want +got):\n%s", got.Host, diff)
	}
	if got.Body != "body" || got.Trailer.Get("X-Sum") != "1" {
		t.Errorf("the upstream got %q with the trailers %v", got.Body, got.Trailer)
	}
}

// replaceBody is a hook that changes the whole body.
func replaceBody(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	resp.Body.Close()
	body = bytes.ToUpper(body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// wrapBody is a hook that changes the body as it passes.
func wrapBody(resp *http.Response) error {
	resp.Header.Del("Content-Length")
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader("> "), resp.Body), resp.Body}
	return nil
}

// An endNoting is a body that records its end.
type endNoting struct {
	io.ReadCloser
	ended atomic.Bool
}

func (b *endNoting) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.ended.Store(true)
	}
	return n, err
}

// TestModifyResponseGetsEarlyResponses checks that a hook can read a response to its end before the body of the request
// has ended. httputil does not respond to such a client at all: net/http reads its body first.
func TestModifyResponseGetsEarlyResponses(t *testing.T) {
	t.Parallel()
	door := testkit.Serve(t, &proxy.Proxy{
		Upstream: openUpstream(t, proxy.Options{}, serveEarly(t, tooLarge)),
		Rewrite:  func(r *httputil.ProxyRequest) { r.Out.Body = &endNoting{ReadCloser: r.Out.Body} },
		ModifyResponse: func(resp *http.Response) error {
			if err := replaceBody(resp); err != nil {
				return err
			}
			if resp.Request.Body.(*endNoting).ended.Load() {
				return errors.New("the body of the request has ended")
			}
			return nil
		}}).URL
	body, end := io.Pipe()
	defer end.Close()
	r := newRequest(t, "POST", door, "")
	r.Body, r.ContentLength = body, -1
	if resp, text := send(t, r); resp.StatusCode != 413 || text != "NO" {
		t.Errorf("the client got %d %q", resp.StatusCode, text)
	}
}

// A changed is a response that a client got.
type changed struct {
	Status        int
	Body          string
	Own           []string // X-Own
	ContentLength int64
	Trailer       http.Header
}

// TestModifyResponseAgreesWithReverseProxy compares the responses that a client gets from both proxies.
func TestModifyResponseAgreesWithReverseProxy(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Own", r.Method)
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(204)
		case "/long":
			w.Write(bytes.Repeat([]byte("long "), 100_000))
		case "/trailers":
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "trailers")
			w.Header().Set("X-Sum", "7")
		default:
			io.WriteString(w, "hello")
		}
	})).URL
	failed := errors.New("no")
	for name, modify := range map[string]func(*http.Response) error{
		"nothing":      func(*http.Response) error { return nil },
		"head":         func(resp *http.Response) error { resp.StatusCode = 201; resp.Header.Add("X-Own", "b"); return nil },
		"replace body": replaceBody,
		"wrap body":    wrapBody,
		"another body": func(resp *http.Response) error {
			resp.Body = io.NopCloser(strings.NewReader("other"))
			resp.Header.Set("Content-Length", "5")
			return nil
		},
		"body read without its end": func(resp *http.Response) error {
			io.ReadFull(resp.Body, make([]byte, len("trailers")))
			resp.Body = struct {
				io.Reader
				io.Closer
			}{strings.NewReader("other"), resp.Body}
			resp.Header.Set("Content-Length", "5")
			resp.Trailer = nil
			return nil
		},
		"error":                func(*http.Response) error { return failed },
		"error after the body": func(resp *http.Response) error { io.Copy(io.Discard, resp.Body); return failed },
	} {
		p := proxy.Proxy{ModifyResponse: modify, ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			w.WriteHeader(418)
			fmt.Fprint(w, errors.Is(err, failed))
		}}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := doors(t, origin, p)
			for _, request := range []string{"GET /", "HEAD /", "GET /long", "GET /trailers", "GET /none"} {
				if (strings.HasSuffix(name, "body") || strings.HasPrefix(name, "body")) && request == "GET /none" {
					continue // the hook sets a length that the status does not allow
				}
				if name == "wrap body" && request == "HEAD /" {
					continue // httputil sends the length of what the hook has put before no body
				}
				method, path, _ := strings.Cut(request, " ")
				got := map[string]changed{}
				for which, url := range both {
					resp, body := send(t, newRequest(t, method, url+path, ""))
					got[which] = changed{resp.StatusCode, body, resp.Header["X-Own"], resp.ContentLength, resp.Trailer}
				}
				if diff := cmp.Diff(got["httputil"], got["weir"]); diff != "" {
					t.Errorf("%s: the client got (- from httputil, + from weir):\n%s", request, diff)
				}
			}
		})
	}
}

// TestModifyResponseKeepsStreaming checks that the parts of a response arrive while it goes on, and that the server
// learns of the end of the client.
func TestModifyResponseKeepsStreaming(t *testing.T) {
	t.Parallel()
	more, gone := make(chan struct{}), make(chan struct{})
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.(http.Flusher).Flush()
		<-more
		for line := range 3 {
			fmt.Fprintln(w, line)
			w.(http.Flusher).Flush()
			<-more
		}
		<-r.Context().Done()
	})).URL
	results := make(chan proxy.Result, 1)
	door := testkit.Serve(t, &proxy.Proxy{Upstream: openUpstream(t, proxy.Options{}, origin), ModifyResponse: wrapBody,
		Done: func(_ *http.Request, result proxy.Result) { results <- result }}).URL
	client := &http.Client{Transport: new(http.Transport), Timeout: patience}
	resp, err := client.Get(door) // returns although there is no body yet
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	for _, want := range []string{"> 0\n", "1\n", "2\n"} {
		more <- struct{}{}
		if line, err := lines.ReadString('\n'); line != want || err != nil {
			t.Fatalf("got %q, %v; want %q", line, err, want)
		}
	}
	more <- struct{}{}
	resp.Body.Close()
	client.CloseIdleConnections()
	<-gone
	var failure *proxy.Error
	if result := <-results; !errors.As(result.Err, &failure) || failure.Kind != proxy.ClientGone || result.Status != 200 {
		t.Errorf("the result is %+v", result)
	}
}

// TestCutModifiedResponseLooksBroken checks that a response that its server, or the hook's body, does not complete
// looks broken, and that the proxy survives a hook that panics.
func TestCutModifiedResponseLooksBroken(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
		w.(http.Flusher).Flush()
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
	})).URL
	failing := func(resp *http.Response) error {
		resp.Header.Del("Content-Length")
		resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, 100_000), errReader{}))
		return nil
	}
	for name, c := range map[string]struct {
		path   string
		modify func(*http.Response) error
		kind   proxy.Kind
	}{
		"the server": {"/cut", wrapBody, proxy.Truncated},
		"the hook":   {"/", failing, proxy.BadResponse},
		"a panic":    {"/", func(*http.Response) error { panic(http.ErrAbortHandler) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := make(chan proxy.Result, 1)
			door := testkit.Serve(t, &proxy.Proxy{Upstream: openUpstream(t, proxy.Options{}, origin), ModifyResponse: c.modify,
				Done: func(_ *http.Request, result proxy.Result) { results <- result }}).URL
			client := &http.Client{Transport: new(http.Transport), Timeout: patience}
			defer client.CloseIdleConnections()
			resp, err := client.Get(door + c.path)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if err == nil {
				t.Error("the response looks complete")
			}
			if c.kind == "" {
				return
			}
			var failure *proxy.Error
			if result := <-results; !errors.As(result.Err, &failure) || failure.Kind != c.kind {
				t.Errorf("the result is %+v, want %s", result, c.kind)
			}
		})
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("faulty") }

// switchProtocols accepts an upgrade, sends X-User and then all bytes back.
func switchProtocols(w http.ResponseWriter, r *http.Request) {
	c, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		w.WriteHeader(500)
		return
	}
	defer c.Close()
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n%s",
		r.Header.Get("Upgrade"), r.Header.Get("X-User"))
	rw.Flush()
	io.Copy(c, rw)
}

// TestUpgradeInMiddlewareWithoutHijack checks that an upgrade fails alike in both proxies if middleware in front of them
// keeps the connection, and that this is no fault of the client or the server.
func TestUpgradeInMiddlewareWithoutHijack(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(switchProtocols)).URL
	target, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	failures := make(chan *proxy.Error, 1)
	respond := func(w http.ResponseWriter, _ *http.Request, err error) {
		status := 502
		if failure := new(proxy.Error); errors.As(err, &failure) {
			status = failure.Status()
			failures <- failure
		}
		w.WriteHeader(status)
		io.WriteString(w, "no upgrade")
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	up := openUpstream(t, proxy.Options{}, origin)
	for name, handler := range map[string]http.Handler{
		"weir": &proxy.Proxy{Upstream: up, ErrorHandler: respond},
		"weir with ModifyResponse": &proxy.Proxy{Upstream: up, ErrorHandler: respond,
			ModifyResponse: func(*http.Response) error { return nil }},
		"httputil": &httputil.ReverseProxy{Transport: transport, ErrorHandler: respond,
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
			ModifyResponse: func(resp *http.Response) error {
				t.Cleanup(func() { resp.Body.Close() }) // httputil leaves the connection to the garbage collector
				return nil
			}},
	} {
		door := testkit.Serve(t, http.TimeoutHandler(handler, patience, "too late")).URL
		r := newRequest(t, "GET", door, "")
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
		if resp, body := send(t, r); resp.StatusCode != 502 || body != "no upgrade" {
			t.Errorf("%s: the client got %d %q", name, resp.StatusCode, body)
		}
		if name == "httputil" {
			continue
		}
		if failure := <-failures; failure.Kind != proxy.NoHijack || failure.ByClient() || failure.ByUpstream() {
			t.Errorf("%s: the failure is %s: %v", name, failure.Kind, failure)
		}
	}
}

func TestUpgradesPassHooks(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(switchProtocols)).URL
	for name, url := range doors(t, origin, proxy.Proxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.Out.Header.Set("X-User", "ann") },
		ModifyResponse: func(*http.Response) error { return nil },
	}) {
		r := newRequest(t, "GET", url, "")
		r.Body = nil
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
		client := &http.Client{Transport: new(http.Transport)}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		tunnel, ok := resp.Body.(io.ReadWriteCloser)
		if !ok {
			t.Fatalf("%s: %s", name, resp.Status)
		}
		io.WriteString(tunnel, " hello")
		got := make([]byte, len("ann hello"))
		if _, err := io.ReadFull(tunnel, got); string(got) != "ann hello" || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		tunnel.Close()
		client.CloseIdleConnections()
	}
}

// TestRewrittenLengthAgreesWithReverseProxy compares the requests that an origin gets if Rewrite replaces or wraps a body
// without its ContentLength.
func TestRewrittenLengthAgreesWithReverseProxy(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d %v %q %v", r.ContentLength, r.TransferEncoding, body, err)
	})).URL
	for name, rewrite := range map[string]func(*httputil.ProxyRequest){
		"none": func(r *httputil.ProxyRequest) { r.Out.Body = http.NoBody },
		"unknown": func(r *httputil.ProxyRequest) {
			r.Out.Body, r.Out.ContentLength = io.NopCloser(strings.NewReader("b")), 0
		},
		"wrapped": func(r *httputil.ProxyRequest) {
			if r.Out.Body != nil {
				r.Out.Body = io.NopCloser(io.MultiReader(r.Out.Body))
			}
		},
	} {
		both := doors(t, origin, proxy.Proxy{Rewrite: rewrite})
		for _, body := range []string{"", "a"} {
			_, want := send(t, newRequest(t, "POST", both["httputil"], body))
			if _, got := send(t, newRequest(t, "POST", both["weir"], body)); got != want {
				t.Errorf("%s: the origin got %s for %q, want %s", name, got, body, want)
			}
		}
	}
}

// TestReplacedBodyIsClosed checks that a body of ModifyResponse is closed, also if it returns an error.
func TestReplacedBodyIsClosed(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(echo)).URL
	for _, result := range []error{nil, errors.New("no")} {
		body := &closing{Reader: strings.NewReader("other")}
		door := testkit.Serve(t, &proxy.Proxy{Upstream: openUpstream(t, proxy.Options{}, origin),
			ModifyResponse: func(resp *http.Response) error {
				resp.Header.Del("Content-Length")
				resp.Body = body
				return result
			}}).URL
		send(t, newRequest(t, "GET", door, ""))
		body.wait(t)
	}
}
