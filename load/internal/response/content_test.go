package response_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/load/internal/response"
)

// seen is a Visitor that keeps the parts of a response.
type seen struct {
	begun  int
	status int
	kinds  []string // values of Content-Type
	body   strings.Builder
}

func (s *seen) Begin(status int, h *response.Header) {
	s.begun++
	s.status = status
	for value := range h.Values("content-type") {
		s.kinds = append(s.kinds, string(value))
	}
}

func (s *seen) Write(b []byte) (int, error) { return s.body.Write(b) }

func TestContentIsThatOfNetHTTP(t *testing.T) {
	const kind = "Content-Type: text/plain\r\n"
	for _, stream := range []string{
		plain,
		usual + kind + "Content-Length: 0\r\n\r\n",
		usual + kind + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nA: b\r\n\r\n",
		usual + kind + "\r\nuntil the end",
		"HTTP/1.1 103 Early Hints\r\n" + "Content-Type: early\r\n\r\n" + usual + kind + "Content-Length: 2\r\n\r\nok",
		"HTTP/1.1 404 Not Found\r\n" + kind + "Content-Type: b\r\nContent-Length: 2\r\n\r\nno",
	} {
		in := bufio.NewReader(strings.NewReader(stream))
		want, err := http.ReadResponse(in, nil)
		for err == nil && want.StatusCode < 200 {
			want, err = http.ReadResponse(in, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(want.Body)
		if err != nil {
			t.Fatal(err)
		}
		var c response.Content
		for cut := range len(stream) + 1 {
			var s seen
			c.Feed([]byte(stream[:cut]), false, &s)
			c.Feed([]byte(stream[cut:]), false, &s)
			c.Reset()
			kinds := strings.Join(want.Header.Values("Content-Type"), "|")
			if s.begun != 1 || s.status != want.StatusCode || s.body.String() != string(body) || strings.Join(s.kinds, "|") != kinds {
				t.Errorf("%q cut at %d: got %+v, want %d %s %q", stream, cut, s, want.StatusCode, kinds, body)
			}
		}
	}
}

func TestContentIsReadWithoutAllocating(t *testing.T) {
	var c response.Content
	v := discard{}
	b := []byte(plain)
	if n := testing.AllocsPerRun(100, func() {
		c.Feed(b, false, v)
		c.Reset()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type discard struct{}

func (discard) Begin(int, *response.Header) {}
func (discard) Write(b []byte) (int, error) { return len(b), nil }
