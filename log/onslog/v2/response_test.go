package log

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// serve lets h answer one request. It returns the recorded response and the body
// that the client read.
func serve(t *testing.T, h http.HandlerFunc) (*response, string) {
	t.Helper()
	noted := make(chan *response, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r := &response{ResponseWriter: w}
		defer func() { noted <- r }()
		h(r, req)
	}))
	defer s.Close()
	res, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return <-noted, string(body)
}

func TestResponseNotesStatusAndLength(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		status  int
		body    string
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) {}, 0, ""},
		{"body", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, 200, "hello"},
		{"status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, ""},
		{"both", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "one")
			_, _ = io.WriteString(w, "two")
		}, 500, "onetwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, body := serve(t, c.handler)
			if r.StatusCode != c.status || r.BytesWritten != int64(len(c.body)) || body != c.body {
				t.Errorf("noted %d and %d bytes, the client read %q; want %d and %q", r.StatusCode, r.BytesWritten, body, c.status, c.body)
			}
		})
	}
}

func TestResponseCanBeFlushedHijackedAndControlled(t *testing.T) {
	_, body := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Errorf("SetWriteDeadline: %v", err)
		}
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "flushed")
	})
	if body != "flushed" {
		t.Errorf("the client read %q", body)
	}
	_, body = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Errorf("Hijack: %v", err)
			return
		}
		defer conn.Close()
		answer(buffered, "hijacked")
	})
	if body != "hijacked" {
		t.Errorf("the client read %q", body)
	}
}

func answer(b *bufio.ReadWriter, body string) {
	_, _ = io.WriteString(b, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+body)
	_ = b.Flush()
}

func TestResponseThatCannotBeHijackedSaysSo(t *testing.T) {
	r := &response{ResponseWriter: httptest.NewRecorder()}
	if _, _, err := r.Hijack(); err == nil {
		t.Error("a recorder was hijacked")
	}
	r = &response{ResponseWriter: struct{ http.ResponseWriter }{httptest.NewRecorder()}}
	r.Flush() // does nothing, and does not panic
}
