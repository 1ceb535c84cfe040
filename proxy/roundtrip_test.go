package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/proxy"
)

// transports returns an Upstream and a Transport of net/http.
func transports(t *testing.T, options proxy.Options, origin string) map[string]http.RoundTripper {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return map[string]http.RoundTripper{"weir": openUpstream(t, options, origin), "net/http": transport}
}

// TestRoundTripSendsLikeNetHTTP compares the requests that an origin gets from both transports.
func TestRoundTripSendsLikeNetHTTP(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Length"] = r.Header["Content-Length"]
		echo(w, r)
	})).URL
	for name, set := range map[string]func(*http.Request){
		"GET":  func(r *http.Request) { r.Method, r.Body, r.ContentLength = "", nil, 0 },
		"body": func(*http.Request) {},
		"long body": func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(long)), int64(len(long))
		},
		"streamed":   func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(long)), -1 },
		"unknown":    func(r *http.Request) { r.ContentLength = 0 },
		"no body":    func(r *http.Request) { r.Body, r.ContentLength = http.NoBody, 0 },
		"nil body":   func(r *http.Request) { r.Method, r.Body, r.ContentLength = "PATCH", nil, 0 },
		"host":       func(r *http.Request) { r.Host = "b.example" },
		"forwarding": func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1"); r.Header.Add("Via", "x") },
		"trailers": func(r *http.Request) {
			r.Body, r.ContentLength, r.Trailer = io.NopCloser(strings.NewReader("a")), -1, http.Header{"X-Sum": {"1"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type sent struct {
				Request received
				Length  []string // Content-Length
			}
			got := map[string]sent{}
			for which, transport := range transports(t, proxy.Options{}, origin) {
				r := newRequest(t, "POST", origin+"/a%2Fb?x=%20", "body")
				r.Header.Set("User-Agent", "test")
				set(r)
				resp, err := transport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				var request received
				if err := json.NewDecoder(resp.Body).Decode(&request); err != nil {
					t.Fatalf("%s: %v", which, err)
				}
				resp.Body.Close()
				got[which] = sent{request, resp.Header["X-Length"]}
			}
			if diff := cmp.Diff(got["net/http"], got["weir"]); diff != "" {
				t.Errorf("the origin got (- from net/http, + from weir):\n%s", diff)
			}
		})
	}
}

var long = strings.Repeat("long ", 100_000)

// TestRoundTripSendsNoPartOfABody checks that a request fails if its body has another length than ContentLength.
func TestRoundTripSendsNoPartOfABody(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(echo)).URL
	for _, size := range []int{10, 100_000} {
		for _, declared := range []int{size - 1, size + 1} {
			for which, transport := range transports(t, proxy.Options{}, origin) {
				r := newRequest(t, "POST", origin, strings.Repeat("x", size))
				r.ContentLength = int64(declared)
				resp, err := transport.RoundTrip(r)
				if err == nil {
					resp.Body.Close()
					t.Errorf("%s: a body of %d bytes was sent as one of %d", which, size, declared)
				}
				if failure := new(proxy.Error); which == "weir" && (!errors.As(err, &failure) || failure.Kind != proxy.ClientBody) {
					t.Errorf("%d bytes as %d: %v", size, declared, err)
				}
			}
		}
	}
}

// TestTimeoutsAreThoseOfNetHTTP checks that the errors of both transports report a timeout as a net.Error.
func TestTimeoutsAreThoseOfNetHTTP(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })).URL
	short := openUpstream(t, proxy.Options{Timeout: 20 * time.Millisecond}, origin)
	check := func(name string, transport http.RoundTripper, ctx context.Context, want bool) {
		_, err := (&http.Client{Transport: transport}).Do(newRequest(t, "GET", origin, "").WithContext(ctx))
		var timeout net.Error
		if !errors.As(err, &timeout) || timeout.Timeout() != want {
			t.Errorf("%s: a timeout is %v in the error %v", name, !want, err)
		}
	}
	check("of the upstream", short, t.Context(), true)
	for which, transport := range transports(t, proxy.Options{}, origin) {
		ctx, cancel := deadlineSoon(t.Context())
		check(which, transport, ctx, true)
		<-ctx.Done() // the exchange may notice its deadline before the context
		cancel()
		check(which+" after cancel", transport, ctx, true)
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		check(which+", cancelled", transport, ctx, false)
	}
}

// TestRoundTripReturnsLikeNetHTTP compares the responses of both transports.
func TestRoundTripReturnsLikeNetHTTP(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(204)
		case "/long":
			io.WriteString(w, long)
		case "/trailers":
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "trailers")
			w.Header().Set("X-Sum", "7")
		case "/hints":
			w.Header().Set("Link", "</a>; rel=preload")
			w.WriteHeader(103)
			w.WriteHeader(404)
		case "/cut":
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, "hello")
		}
	})).URL
	type result struct {
		Status  string
		Header  http.Header
		Length  int64
		Body    string
		Cut     bool
		Trailer http.Header
		Hints   []string
	}
	for _, request := range []string{
		"GET /", "HEAD /", "GET /none", "GET /long", "GET /trailers", "GET /hints", "GET /cut",
	} {
		method, path, _ := strings.Cut(request, " ")
		got := map[string]result{}
		for which, transport := range transports(t, proxy.Options{}, origin) {
			var hints []string
			r := newRequest(t, method, origin+path, "")
			r.Body = nil
			resp, err := transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
					hints = append(hints, fmt.Sprint(code, header))
					return nil
				}})))
			if err != nil {
				t.Fatalf("%s: %v", which, err)
			}
			announced := len(resp.Trailer)
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			got[which] = result{resp.Status, resp.Header, resp.ContentLength, string(body), err != nil, resp.Trailer, hints}
			if announced != len(resp.Trailer) || resp.Request.URL.Path != path {
				t.Errorf("%s: %d trailers were announced, %v arrived", which, announced, resp.Trailer)
			}
		}
		if diff := cmp.Diff(got["net/http"], got["weir"]); diff != "" {
			t.Errorf("%s (- net/http, + weir):\n%s", request, diff)
		}
	}
}

// TestRoundTripDescribesTheConnection compares the protocol and the state of TLS in the responses of both transports.
func TestRoundTripDescribesTheConnection(t *testing.T) {
	t.Parallel()
	type described struct {
		Proto           string
		Major, Minor    int
		Version         uint16 // of TLS
		Peers, Verified int    // certificates and chains
	}
	for _, c := range []struct{ secure, http2 bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
		t.Cleanup(server.Close)
		options, peer := proxy.Options{HTTP2: c.http2}, &http.Transport{Protocols: new(http.Protocols)}
		t.Cleanup(peer.CloseIdleConnections)
		peer.Protocols.SetHTTP1(!c.http2)
		if c.secure {
			server.EnableHTTP2 = c.http2
			server.StartTLS()
			options.TLS.Roots = x509.NewCertPool()
			options.TLS.Roots.AddCert(server.Certificate())
			peer.TLSClientConfig = &tls.Config{RootCAs: options.TLS.Roots}
			peer.Protocols.SetHTTP2(c.http2)
		} else {
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetHTTP1(true)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			server.Start()
			peer.Protocols.SetUnencryptedHTTP2(c.http2)
		}
		got := map[string]described{}
		for which, transport := range map[string]http.RoundTripper{
			"weir": openUpstream(t, options, server.URL), "net/http": peer,
		} {
			resp, err := transport.RoundTrip(newRequest(t, "GET", server.URL, ""))
			if err != nil {
				t.Fatalf("%+v: %s: %v", c, which, err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			d := described{Proto: resp.Proto, Major: resp.ProtoMajor, Minor: resp.ProtoMinor}
			if state := resp.TLS; state != nil {
				d.Version, d.Peers, d.Verified = state.Version, len(state.PeerCertificates), len(state.VerifiedChains)
			}
			got[which] = d
		}
		if diff := cmp.Diff(got["net/http"], got["weir"]); diff != "" || got["weir"].Version > 0 != c.secure {
			t.Errorf("%+v (- net/http, + weir):\n%s", c, diff)
		}
	}
}

// serveEarly starts a server that responds before the body of the request has ended.
func serveEarly(t *testing.T, response string) (url string) {
	return "http://" + testkit.ServeConns(t, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, response)
			io.Copy(io.Discard, c)
		}
	})
}

const tooLarge = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"

// TestRoundTripReturnsEarlyResponses checks that a response ends although a Read of the request's body does not return,
// even after its Close.
func TestRoundTripReturnsEarlyResponses(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"length": tooLarge,
		"chunks": "HTTP/1.1 413 Content Too Large\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
	} {
		origin := serveEarly(t, response)
		for which, transport := range transports(t, proxy.Options{}, origin) {
			t.Run(name+"/"+which, func(t *testing.T) {
				t.Parallel()
				body, end := io.Pipe()
				defer end.Close()
				r := newRequest(t, "POST", origin, "")
				r.Body, r.ContentLength = io.NopCloser(body), -1
				got := make(chan string, 1)
				go func() {
					resp, err := transport.RoundTrip(r)
					if err != nil {
						got <- err.Error()
						return
					}
					defer resp.Body.Close()
					text, err := io.ReadAll(resp.Body)
					got <- fmt.Sprint(resp.StatusCode, string(text), err)
				}()
				if text := testkit.Receive(t, "the end of the response", got); text != fmt.Sprint(413, "no", nil) {
					t.Errorf("got %s", text)
				}
			})
		}
	}
}

// TestRoundTripKeepsConnectionsOfReadResponses checks that a connection is kept if all bytes of a response were read,
// although not io.EOF, and that it is closed otherwise.
func TestRoundTripKeepsConnectionsOfReadResponses(t *testing.T) {
	t.Parallel()
	const requests = 50
	for _, c := range []struct {
		name, response string
		closed         int32 // connections
	}{
		{"length", "Content-Length: 7\r\n\r\n{\"a\":1}", 0},
		{"chunks", "Transfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n0\r\n\r\n", 0},
		{"incomplete", "Content-Length: 8\r\n\r\n{\"a\":1}", requests},
		{"unread", "Content-Length: 100007\r\n\r\n{\"a\":1}" + strings.Repeat(" ", 100_000), requests},
	} {
		for _, which := range []string{"weir", "net/http"} {
			t.Run(c.name+"/"+which, func(t *testing.T) {
				t.Parallel()
				var closed atomic.Int32
				origin := "http://" + testkit.ServeConns(t, func(conn *net.TCPConn) {
					for r := bufio.NewReader(conn); ; {
						if _, err := http.ReadRequest(r); err != nil {
							closed.Add(1)
							return
						}
						io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+c.response)
					}
				})
				transport := transports(t, proxy.Options{}, origin)[which]
				for range requests {
					resp, err := transport.RoundTrip(newRequest(t, "GET", origin, ""))
					if err != nil {
						t.Fatal(err)
					}
					var value struct{ A int }
					if err := json.NewDecoder(resp.Body).Decode(&value); err != nil || value.A != 1 {
						t.Errorf("%+v, %v", value, err)
					}
					resp.Body.Close()
				}
				if c.closed > 0 {
					testkit.AwaitEqual(t, "the closed connections", closed.Load, c.closed)
				} else if n := closed.Load(); n > 0 {
					t.Errorf("%d of %d connections were closed", n, requests)
				}
			})
		}
	}
}

// TestRoundTripEndsWithItsContext checks that a request ends with its context, before and after the response, and that
// its body is closed in all cases. The end of the test waits for the server, whose handlers wait for the end of their
// connections.
func TestRoundTripEndsWithItsContext(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 10)
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/begun" {
			w.(http.Flusher).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	})).URL
	up := openUpstream(t, proxy.Options{}, origin)
	for _, c := range []struct {
		name string
		path string
		make func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		{"cancelled", "/", cancelOn(arrived), context.Canceled},
		{"cancelled in the body", "/begun", cancelOn(arrived), context.Canceled},
		{"deadline", "/", deadlineSoon, context.DeadlineExceeded},
		{"deadline in the body", "/begun", deadlineSoon, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := c.make(t.Context())
			defer cancel()
			body := &closing{Reader: strings.NewReader("body")}
			r := newRequest(t, "POST", origin+c.path, "")
			r.Body, r.ContentLength = body, 4
			resp, err := up.RoundTrip(r.WithContext(ctx))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			var failure *proxy.Error
			if !errors.Is(err, c.want) || !errors.As(err, &failure) {
				t.Errorf("the error is %v, want an *Error of %v", err, c.want)
			}
			body.wait(t)
		})
	}
	t.Run("closed by the caller", func(t *testing.T) {
		resp, err := up.RoundTrip(newRequest(t, "GET", origin+"/begun", ""))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	})
	t.Run("not connected", func(t *testing.T) {
		body := &closing{Reader: strings.NewReader("body")}
		r := newRequest(t, "POST", "http://a.example", "")
		r.Body, r.ContentLength = body, 4
		resp, err := (&http.Client{Transport: openUpstream(t, proxy.Options{}, "http://127.0.0.1:1")}).Do(r)
		var failure *proxy.Error
		if !errors.As(err, &failure) || failure.Kind != proxy.Refused || !failure.ByUpstream() {
			t.Errorf("%v, %v", resp, err)
		}
		body.wait(t)
	})
	t.Run("CONNECT", func(t *testing.T) {
		_, err := up.RoundTrip(newRequest(t, "CONNECT", origin, ""))
		var failure *proxy.Error
		if !errors.As(err, &failure) || failure.Kind != proxy.BadRequest {
			t.Error(err)
		}
	})
	t.Run("no server", func(t *testing.T) {
		none, failure := openUpstream(t, proxy.Options{}), new(proxy.Error)
		if _, err := none.RoundTrip(newRequest(t, "GET", origin, "")); !errors.As(err, &failure) || failure.Status() != 502 {
			t.Error(err)
		}
	})
}

// cancelOn returns a function that makes a context, which is cancelled after a request has arrived.
func cancelOn(arrived chan struct{}) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			select {
			case <-arrived:
				cancel()
			case <-ctx.Done():
			}
		}()
		return ctx, cancel
	}
}

func deadlineSoon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 50*time.Millisecond)
}

// A closing is a body that can be closed.
type closing struct {
	io.Reader
	once   sync.Once
	closed chan struct{}
}

func (c *closing) init() chan struct{} {
	c.once.Do(func() { c.closed = make(chan struct{}, 10) })
	return c.closed
}

func (c *closing) Close() error {
	c.init() <- struct{}{}
	return nil
}

func (c *closing) wait(t *testing.T) {
	t.Helper()
	testkit.Receive(t, "the end of the body of the request", c.init())
}

// TestRoundTripReusesConnections checks that concurrent requests use the servers in turn and their connections again.
func TestRoundTripReusesConnections(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]int{}
	name := func(text string) string {
		return testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Write(body)
			mu.Lock()
			defer mu.Unlock()
			got[text]++
		})).URL
	}
	client := &http.Client{Transport: openUpstream(t, proxy.Options{}, name("a"), name("b"))}
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for n := range 50 {
				want := strings.Repeat(fmt.Sprint(i, n, " "), 1+n*1000)
				resp, err := client.Post("http://site.example/", "text/plain", strings.NewReader(want))
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(body) != want || err != nil {
					t.Errorf("got %d bytes, %v; want %d", len(body), err, len(want))
				}
			}
		})
	}
	running.Wait()
	mu.Lock()
	defer mu.Unlock()
	if got["a"] != 200 || got["b"] != 200 {
		t.Errorf("the servers got %v", got)
	}
}

func TestUpstreamIsTransportOfReverseProxy(t *testing.T) {
	t.Parallel()
	up := openUpstream(t, proxy.Options{}, testkit.Serve(t, http.HandlerFunc(echo)).URL)
	door := testkit.Serve(t, &httputil.ReverseProxy{Transport: up, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: "site.example"})
		r.SetXForwarded()
	}}).URL
	_, body := send(t, newRequest(t, "POST", door+"/a?b", "body"))
	var got received
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Target != "/a?b" || got.Host != "site.example" || got.Body != "body" ||
		got.Header.Get("X-Forwarded-For") != "127.0.0.1" {
		t.Errorf("the server got %+v", got)
	}
}

// An acceptor calls accepted with the number of each connection before it returns it.
type acceptor struct {
	net.Listener
	count    atomic.Int32
	accepted func(int32)
}

func (a *acceptor) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err == nil {
		a.accepted(a.count.Add(1))
	}
	return c, err
}

// TestRequestsToARemovedServerConnectOnce removes a server of HTTP/2 while requests connect to it. Each of them is served,
// on a connection that it makes once.
func TestRequestsToARemovedServerConnectOnce(t *testing.T) {
	t.Parallel()
	const requests = 3
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := &acceptor{Listener: inner}
	up := openUpstream(t, proxy.Options{HTTP2: true}, "http://"+inner.Addr().String())
	begun, removed := make(chan bool), make(chan bool)
	listener.accepted = func(n int32) {
		if n == 1 {
			close(begun)
			<-removed
		}
	}
	server := &http.Server{Handler: http.HandlerFunc(echo), Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	results := make(chan error, requests)
	for range requests {
		go func() {
			resp, err := up.RoundTrip(newRequest(t, "POST", "http://site.example", "body"))
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			results <- err
		}()
	}
	<-begun
	err = up.SetServers([]proxy.Server{{URL: "http://127.0.0.1:1"}})
	close(removed)
	if err != nil {
		t.Fatal(err)
	}
	served := 0
	for range requests {
		err := <-results
		var failure *proxy.Error
		if served++; err != nil {
			if served--; !errors.As(err, &failure) || failure.Kind != proxy.Refused { // it has chosen a server only after the removal
				t.Error(err)
			}
		}
	}
	if n := int(listener.count.Load()); served == 0 || n > requests {
		t.Errorf("%d requests were served on %d connections", served, n)
	}
}
