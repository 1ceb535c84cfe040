package front_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/certtest"
)

// withHTTP2 has the upstream "site" use HTTP/2.
func withHTTP2(c *config.Config) { c.Upstreams[0].HTTP2 = true }

// openH2C starts a server of net/http for HTTP/2 without TLS.
func openH2C(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// echo responds with the body of the request as it arrives, and with its fields and trailers.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Got", r.Proto+" "+r.Method+" "+r.Host+" "+r.RequestURI+" "+r.Header.Get("X-Own"))
	w.Header().Set("Trailer", "X-Sum")
	w.Header().Add("Set-Cookie", "a=1")
	w.Header().Add("Set-Cookie", "b=2")
	n, err := io.Copy(w, r.Body)
	w.Header().Set("X-Sum", r.Trailer.Get("X-Check")+" "+http.StatusText(200+int(n%2)))
	if err != nil {
		w.Header().Set("X-Sum", err.Error())
	}
}

// TestHTTP2UpstreamServesRequests sends requests with and without bodies at once over HTTP/2, with and without
// TLS.
func TestHTTP2UpstreamServesRequests(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	secure := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	secure.EnableHTTP2 = true
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{*root.Issue(t, certtest.Options{}).TLS()}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, url := range map[string]string{"h2c": openH2C(t, echo).URL, "h2": secure.URL} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t, url+"/base", trust(root), withHTTP2)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for i := range 20 {
						size := []int{0, 100, 40_000, 300_000}[i%4]
						body := strings.Repeat("x", size)
						req, err := http.NewRequest("PUT", d.url("/a?b"), io.MultiReader(strings.NewReader(body)))
						if err != nil {
							t.Error(err)
							return
						}
						if i%2 == 0 {
							req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(size)
						} else {
							req.Trailer = http.Header{"X-Check": {"c"}}
						}
						req.Header.Set("X-Own", "own")
						resp, err := http.DefaultClient.Do(req)
						if err != nil {
							t.Error(err)
							return
						}
						got, err := io.ReadAll(resp.Body)
						resp.Body.Close()
						want := "HTTP/2.0 PUT " + d.addr + " /base/a?b own"
						if err != nil || resp.StatusCode != 200 || string(got) != body || resp.Header.Get("X-Got") != want ||
							len(resp.Header["Set-Cookie"]) != 2 {
							t.Errorf("status %d, %d bytes of %d, %v, %v", resp.StatusCode, len(got), size, err, resp.Header)
						}
						if sum := resp.Trailer.Get("X-Sum"); i%2 == 1 && resp.ContentLength < 0 && sum != "c OK" {
							t.Errorf("the trailer is %q", sum)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

func TestHTTP2UpstreamSharesAConnection(t *testing.T) {
	t.Parallel()
	const requests = 40
	var arrived sync.WaitGroup
	arrived.Add(requests)
	s := openH2C(t, func(http.ResponseWriter, *http.Request) {
		arrived.Done()
		arrived.Wait()
	})
	d := openDoor(t, s.URL, withHTTP2)
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			if status, _ := fetch(t, d.url("/")); status != 200 {
				t.Errorf("status %d", status)
			}
		})
	}
	all.Wait()
}

func TestErrorNamesServerWithoutHTTP2(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, withHTTP2)
	resp, err := http.Get(d.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	e := d.completed(t, "/")
	if resp.StatusCode != 502 || len(e.Errors) != 1 || !strings.Contains(e.Errors[0].Message, "the server responds with HTTP/1") {
		t.Errorf("%s, errors %v", resp.Status, e.Errors)
	}
}
