package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Work is what a pass does with a door.
type Work struct {
	Connections int
	Log         Log
	// Rate is the number of requests per second that are due (open loop). If it is 0, each connection waits for its
	// response before it sends the next request (closed loop).
	Rate     float64
	Response int // size of the response's body in bytes; 0 means 1 KiB
	Upload   int // size of the body of a POST in bytes, whose response has 1 KiB; 0 means that requests are GETs
	// Files means that the door itself serves the response, from a file in the page cache.
	Files bool
	// Long means that the requests are as long as those of a browser: a path of 160 bytes, and browserFields.
	Long bool
	// Routes is the number of routes of the door, which the requests use by turns. 0 means one for all paths.
	Routes int
	// Idle means that each connection makes one request and is then idle.
	Idle bool
	// Streams is the number of requests at a time on each connection, with HTTP/2. 0 means HTTP/1.1.
	Streams int
	// TLS means that the requests use https.
	TLS bool
	// Handshakes means that each connection does a full handshake of TLS 1.3 and then closes, instead of a request.
	Handshakes bool
	Load       time.Duration // of a measured pass, after a second of warm-up; the time of idleness
}

// A Log is the destination of a door's log.
type Log string

// The destinations.
const (
	ToFile Log = "to a file"
	ToPipe Log = "to a pipe" // stdout, read by the bench
	Off    Log = "off"
)

// kind is the kind of a Work, by which doors are selected. It is a set of bits.
type kind int

const (
	mainKind     kind = 1 << iota // 64 connections, log to a file
	fileKind                      // another number of connections, log to a file
	pipeKind                      // log to a pipe
	offKind                       // log off
	fixedKind                     // at a fixed rate
	bodiesKind                    // with larger bodies
	idleKind                      // idle connections
	tlsKind                       // requests with TLS, or only handshakes
	http2Kind                     // requests with HTTP/2, log to a file
	http2OffKind                  // requests with HTTP/2, log off
	filesKind                     // files that the door serves

	closedLoop = mainKind | fileKind | pipeKind | offKind
)

func (w Work) kind() kind {
	switch {
	case w.Idle:
		return idleKind
	case w.TLS || w.Handshakes:
		return tlsKind
	case w.Streams > 0 && w.Log == Off:
		return http2OffKind
	case w.Streams > 0:
		return http2Kind
	case w.Files:
		return filesKind
	case w.Upload > 0 || w.Response > 0:
		return bodiesKind
	case w.Rate > 0:
		return fixedKind
	case w.Log == Off:
		return offKind
	case w.Log == ToPipe:
		return pipeKind
	case w.Connections == 64:
		return mainKind
	}
	return fileKind
}

// path is the target of the requests. The backend finds the sizes of the bodies in it.
func (w Work) path() string {
	switch {
	case w.Upload > 0:
		return fmt.Sprintf("/uploads/%d?page=2", w.Upload)
	case w.Response > 0:
		return fmt.Sprintf("/responses/%d?page=2", w.Response)
	case w.Routes > 0:
		return routePath(w.Routes-1) + page
	case w.Long:
		return longPath + "?page=2"
	}
	return "/economy/bulletins/september2026?page=2"
}

// longPath has 160 bytes.
const longPath = "/economy/inflation-and-price-indices/bulletins/consumer-price-inflation-including-housing-costs/" +
	"september-2026/main-points-of-the-release-with-all-tables/latest"

// browserFields are fields that browsers send.
var browserFields = [][2]string{
	{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"},
	{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"},
	{"Accept-Language", "en-GB,en;q=0.9,cy;q=0.8"},
	{"Accept-Encoding", "gzip, deflate, br, zstd"},
	{"Cookie", "session=8f14e45fceea167a5a36dedd4bea2543; cookies_preferences_set=true; usage=false"},
}

// fields are the fields of the requests that the load generators do not send by themselves.
func (w Work) fields() [][2]string {
	if w.Long {
		return browserFields
	}
	return nil
}

// fieldArgs are the fields as arguments of wrk, h2load and weir load.
func (w Work) fieldArgs() (args []string) {
	for _, f := range w.fields() {
		args = append(args, "-H", f[0]+": "+f[1])
	}
	return args
}

// routes are the paths of the routes, without a slash at their ends.
func (w Work) routes() []string {
	if w.Routes == 0 {
		return []string{""}
	}
	var all []string
	for i := range w.Routes {
		all = append(all, routePath(i))
	}
	return all
}

// routeFormat makes the path of a route from its number, without a slash at its end, in Go and in Lua.
const routeFormat = "/datasets/series-%05d"

// page is the rest of a path below a route.
const page = "/september2026?page=2"

func routePath(i int) string { return fmt.Sprintf(routeFormat, i) }

// bodySize is the default size of the backend's response.
const bodySize = 1024

func (w Work) responseSize() int {
	if w.Response > 0 {
		return w.Response
	}
	return bodySize
}

// body returns the only correct body of n bytes.
func body(n int) string { return strings.Repeat("weir\n", n/5+1)[:n] }

// try makes one request of w at origin and checks the whole response.
func (w Work) try(ctx context.Context, origin string) error {
	method, path, upload := http.MethodGet, w.path(), ""
	if w.Upload > 0 {
		method, path, upload = http.MethodPost, checkedPath+path, body(w.Upload)
	}
	req, err := http.NewRequestWithContext(ctx, method, origin+path, strings.NewReader(upload))
	if err != nil {
		return err
	}
	req.Close = true
	for _, f := range w.fields() {
		req.Header.Set(f[0], f[1])
	}
	c := client
	if w.Streams > 0 {
		c = http2Client
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return w.check(res)
}

// check reads the body of res, and returns an error if res is not the backend's response.
func (w Work) check(res *http.Response) error {
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if want := body(w.responseSize()); res.StatusCode != http.StatusOK || string(got) != want {
		return fmt.Errorf("the response to %s %s is %s with %d bytes, %.20q; want 200 with the %d bytes of the backend",
			res.Request.Method, res.Request.URL.Path, res.Status, len(got), got, len(want))
	}
	return nil
}
