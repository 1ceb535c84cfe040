package proxying_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzhttp"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// middlewares are handlers as services put them around a proxy. Several have a
// ResponseWriter without optional methods.
var middlewares = map[string]func(http.Handler) http.Handler{
	"none": func(next http.Handler) http.Handler { return next },
	"http.TimeoutHandler": func(next http.Handler) http.Handler {
		return http.TimeoutHandler(next, patience, "too late")
	},
	"buffer": func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := buffer{header: make(http.Header)}
			next.ServeHTTP(&b, r)
			maps.Copy(w.Header(), b.header)
			w.WriteHeader(b.status)
			w.Write(b.body.Bytes())
		})
	},
	"recorder": func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorder := httptest.NewRecorder()
			next.ServeHTTP(recorder, r)
			maps.Copy(w.Header(), recorder.Header())
			w.WriteHeader(recorder.Code)
			recorder.Body.WriteTo(w)
		})
	},
	"bare writer": func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
		})
	},
	"compression": func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			z := gzip.NewWriter(w)
			defer z.Close()
			next.ServeHTTP(compressed{w, z}, r)
		})
	},
	"gzhttp": func(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) },
}

// A buffer is a ResponseWriter that keeps the response.
type buffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *buffer) Header() http.Header         { return b.header }
func (b *buffer) WriteHeader(status int)      { b.status = status }
func (b *buffer) Write(p []byte) (int, error) { return b.body.Write(p) }

// A compressed is a ResponseWriter with a Flush, but no Unwrap.
type compressed struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (c compressed) WriteHeader(status int) {
	c.Header().Del("Content-Length")
	c.Header().Set("Content-Encoding", "gzip")
	c.ResponseWriter.WriteHeader(status)
}

func (c compressed) Write(p []byte) (int, error) { return c.z.Write(p) }

func (c compressed) Flush() {
	c.z.Flush()
	http.NewResponseController(c.ResponseWriter).Flush()
}

// personal responds with the user of the request in a cookie, another field, the
// body and a trailer.
func personal(w http.ResponseWriter, r *http.Request) {
	user := r.URL.Query().Get("user")
	w.Header().Set("Set-Cookie", "session="+user)
	w.Header().Add("X-User", user)
	w.Header().Add("X-User", "of "+user)
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, strings.Repeat(user+"\n", 500))
}

// proxies returns handlers that send requests to url: a Proxy and httputil's.
func proxies(t *testing.T, url *url.URL) map[string]http.Handler {
	up := openUpstream(t, proxying.Options{}, url.String())
	t.Cleanup(up.Close)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return map[string]http.Handler{
		"weir": &proxying.Proxy{Upstream: up},
		"httputil": &httputil.ReverseProxy{
			Transport: transport,
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(url) },
		},
	}
}

// TestMiddlewareMixesUpNoResponses sends requests of many users at once through each
// middleware, and checks that each user gets a complete response of his own. It
// also keeps the header maps, as a cache does, and reads them at the end.
func TestMiddlewareMixesUpNoResponses(t *testing.T) {
	t.Parallel()
	const clients, requests = 8, 25
	origin := testkit.Serve(t, http.HandlerFunc(personal))
	url, _ := url.Parse(origin.URL)
	for name, handler := range proxies(t, url) {
		for around, wrap := range middlewares {
			t.Run(name+"/"+around, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				kept := make(map[string]http.Header) // by user
				door := httptest.NewServer(wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					handler.ServeHTTP(w, r)
					mu.Lock()
					defer mu.Unlock()
					kept[r.URL.Query().Get("user")] = w.Header()
				})))
				defer door.Close()
				var wrong atomic.Int64
				var all sync.WaitGroup
				for client := range clients {
					all.Go(func() {
						for n := range requests {
							user := fmt.Sprintf("u%dr%d", client, n)
							if err := askFor(door.URL, user); err != nil {
								wrong.Add(1)
								t.Log(err)
							}
						}
					})
				}
				all.Wait()
				door.Close()
				for user, header := range kept {
					if got := header["X-User"]; header.Get("Set-Cookie") != "session="+user ||
						!slices.Equal(got, []string{user, "of " + user}) {
						wrong.Add(1)
					}
				}
				if wrong.Load() > 0 || len(kept) != clients*requests {
					t.Errorf("%d responses or kept headers are wrong, of %d", wrong.Load(), len(kept))
				}
			})
		}
	}
}

// askFor requests the response of a user, and checks it.
func askFor(door, user string) error {
	resp, err := http.Get(door + "/?user=" + user)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := readPlain(resp)
	if err != nil {
		return err
	}
	cookie, fields := resp.Header.Get("Set-Cookie"), resp.Header["X-User"]
	if cookie != "session="+user || !slices.Equal(fields, []string{user, "of " + user}) ||
		body != strings.Repeat(user+"\n", 500) {
		return fmt.Errorf("%s got %d with cookie %q, %q and %d bytes", user, resp.StatusCode, cookie, fields, len(body))
	}
	return nil
}

// readPlain returns the body of a response, decompressed.
func readPlain(resp *http.Response) (string, error) {
	body := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return "", err
		}
		body = z
	}
	b, err := io.ReadAll(body)
	return string(b), err
}

// TestFieldsOfMiddlewareSurviveEarlyHints checks that fields which middleware has set reach the
// client with the final response, also after a 103.
func TestFieldsOfMiddlewareSurviveEarlyHints(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.Header().Set("Vary", "Accept")
	}))
	url, _ := url.Parse(origin.URL)
	handler := proxies(t, url)["weir"]
	shared := append(make([]string, 0, 4), "Origin") // of all requests, with room for more
	door := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Vary"] = shared
		handler.ServeHTTP(w, r)
	}))
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			hints := 0
			r, _ := http.NewRequest("GET", door.URL, nil)
			r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
					if h.Get("Link") != "" {
						hints++
					}
					return nil
				},
			}))
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if got := resp.Header["Vary"]; hints != 1 || !slices.Equal(got, []string{"Origin", "Accept"}) ||
				resp.Header["Link"] != nil {
				t.Errorf("%d early hints, then %v", hints, resp.Header)
			}
		})
	}
	clients.Wait()
}
