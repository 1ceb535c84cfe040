package proxying_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// TestRespondFromCutsFailedBodies sends bodies from readers, of which some end early or fail.
func TestRespondFromCutsFailedBodies(t *testing.T) {
	t.Parallel()
	own := &proxying.Error{Kind: "own", Step: "reading", Err: io.ErrClosedPipe}
	long := strings.Repeat("0123456789", 20_000)
	for _, c := range []struct {
		name, method string
		body         io.Reader
		length       int64
		want         string
		sent         int64
		kind         proxying.Kind // "" for success
	}{
		{"a short body", "GET", strings.NewReader("hello"), 5, "hello", 5, ""},
		{"a long body", "GET", strings.NewReader(long), int64(len(long)), long, int64(len(long)), ""},
		{"no body", "GET", strings.NewReader(""), 0, "", 0, ""},
		{"HEAD", "HEAD", strings.NewReader("hello"), 5, "", 0, ""},
		{"more than the length", "GET", strings.NewReader("hello, world"), 5, "hello", 5, ""},
		{"less than the length", "GET", strings.NewReader("hel"), 5, "", 3, proxying.Truncated},
		{"an error", "GET", io.MultiReader(strings.NewReader("hel"), failing{io.ErrNoProgress}), 5, "", 3,
			proxying.Truncated},
		{"an error with a kind", "GET", failing{own}, 5, "", 0, "own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended := make(chan struct{})
			var o outcome
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				new(proxying.Proxy).Handle(w, r, func(x *proxying.Exchange) {
					x.RespondFrom(206, []proxying.Field{{Name: "X-Own", Value: "1"}}, c.length, c.body)
					o = outcomeOf(x)
				})
			}))
			defer s.Close()
			req, err := http.NewRequest(c.method, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := s.Client().Do(req)
			if err == nil {
				defer resp.Body.Close()
				var body []byte
				if body, err = io.ReadAll(resp.Body); c.kind == "" && string(body) != c.want || resp.StatusCode != 206 ||
					resp.ContentLength != c.length || resp.Header.Get("X-Own") != "1" {
					t.Errorf("%s, length %d, %d bytes, %v", resp.Status, resp.ContentLength, len(body), resp.Header)
				}
			}
			<-ended
			if o.kind != c.kind || o.cut != (c.kind != "") || (err != nil) != o.cut || o.bodySent != c.sent {
				t.Errorf("%v, cut %v, %d bytes sent; the client got %v", o.err, o.cut, o.bodySent, err)
			}
		})
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
