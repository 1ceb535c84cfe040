package load_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// TestRequestsBehindCloseAreSentAgain uses a server that responds to two requests of each connection, the
// second one with Connection: close. The requests behind it are sent again over another
// connection, with the same bytes: each is answered once, and none has failed. The server
// closes with a reset, because it has not read all requests, or after it has read them.
func TestRequestsBehindCloseAreSentAgain(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
	file := target.Body{File: strings.NewReader(strings.Repeat("x", 5<<20)), Size: 5 << 20} // too large to be kept
	serverTLS, clientTLS := quickTLS(t)
	for _, w := range []way{
		{name: "closed", plan: load.Plan{Requests: 16}},
		{name: "open", plan: load.Plan{Pace: pace.Rate(2000), Requests: 16, MaxConnections: 3}},
		{name: "TLS", plan: load.Plan{Requests: 16}, tls: true},
		{name: "TLS, open", plan: load.Plan{Pace: pace.Rate(1000), Requests: 16, MaxConnections: 3}, tls: true},
	} {
		for _, end := range []string{"reset", "end"} {
			t.Run(w.name+", "+end, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				answered := make(map[string]int)
				config := serverTLS
				if !w.tls {
					config = nil
				}
				s := newBadServer(t, config, func(v *visit) {
					for i := range 2 {
						r, err := http.ReadRequest(v.in)
						if err != nil {
							return
						}
						body, err := io.ReadAll(r.Body)
						if err != nil {
							return
						}
						mu.Lock()
						answered[fmt.Sprintf("%s %.9s of %d", r.URL.Path, body, len(body))]++
						mu.Unlock()
						if i == 0 {
							v.say(answer + "\r\n")
						} else {
							v.say(answer + "Connection: close\r\n\r\n")
						}
					}
					if end == "end" {
						v.finish()
					}
				})
				p := w.plan
				p.Targets = []target.Target{{URL: s.url + "/{{seq}}"}, {URL: s.url + "/fixed"},
					{Method: "POST", URL: s.url + "/text", Body: target.Body{Text: "number {{seq}}"}},
					{Method: "POST", URL: s.url + "/file", Body: file}}
				p.TLS, p.Connections, p.Threads, p.Pipeline = clientTLS, 3, 1, 4
				p.Duration, p.Timeout, p.Process = time.Minute, waitLimit, -1
				r := run(t, p)
				if r.Requests != p.Requests || len(r.Errors) > 0 || r.Sent != p.Requests {
					t.Errorf("%d of %d requests were answered, and %d sent: %v", r.Requests, p.Requests, r.Sent,
						r.ErrorExamples)
				}
				mu.Lock()
				defer mu.Unlock()
				want := map[string]int{"/fixed  of 0": int(p.Requests / 4), "/file xxxxxxxxx of 5242880": int(p.Requests / 4)}
				for i := int64(0); i < p.Requests; i += 4 {
					want[fmt.Sprintf("/%d  of 0", i)] = 1
					text := fmt.Sprint("number ", i+2)
					want[fmt.Sprintf("/text %s of %d", text, len(text))] = 1
				}
				if diff := cmp.Diff(want, answered); diff != "" {
					t.Errorf("the numbers of responses (-want +got):\n%s", diff)
				}
			})
		}
	}
}
