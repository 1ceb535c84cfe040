package livepage

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weirhq/weir/internal/testkit"
)

// events returns the values of a story's events, after the event with a number.
func events(t *testing.T, s *Story, last string) []string {
	t.Helper()
	r := httptest.NewRequest("GET", "/events", nil)
	r.Header.Set("Last-Event-ID", last)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r) // returns, because the story has ended
	var values []string
	for line := range strings.Lines(w.Body.String()) {
		if value, ok := strings.CutPrefix(line, "data: "); ok {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

func TestLateViewerGetsTheWholeStory(t *testing.T) {
	s := NewStory("start")
	s.Add("progress", 1)
	s.Keep("run", 2)
	s.Add("progress", 3)
	s.End("end")
	s.Add("progress", "after the end")
	for _, c := range []struct{ last, want string }{
		{"", `["start" 1 2 3 "end"]`},
		{"2", `["start" 3 "end"]`},
		{"4", `["start"]`},
		{"77", `["start" 1 2 3 "end"]`}, // of another run
		{"x", `["start" 1 2 3 "end"]`},
	} {
		if got := fmt.Sprint(events(t, s, c.last)); got != c.want {
			t.Errorf("after %q: %s, want %s", c.last, got, c.want)
		}
	}
}

func TestStoryKeepsTheLastEventsAndThoseThatStay(t *testing.T) {
	s := NewStory(0)
	s.Keep("run", "first")
	for i := range kept + 50 {
		s.Add("progress", i)
	}
	s.End("end")
	got := events(t, s, "")
	if len(got) != 2+kept+1 || got[1] != `"first"` || got[2] != "50" {
		t.Errorf("%d events, which begin with %v; want %d, the one that stays, and those from 50", len(got), got[:3], 2+kept+1)
	}
}

// TestStalledViewerDelaysNothing has a viewer that reads nothing. The story, the other viewers and the end of the server
// do not wait for it.
func TestStalledViewerDelaysNothing(t *testing.T) {
	s := NewStory("start")
	server, err := Serve("127.0.0.1:0", fstest.MapFS{"web/index.html": {Data: []byte("<html>")}}, s)
	if err != nil {
		t.Fatal(err)
	}
	stalled, err := net.Dial("tcp", server.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	fmt.Fprintf(stalled, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	r := bufio.NewReader(stalled)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	large := strings.Repeat("x", 64<<10)
	for range kept { // 40 MB, more than any socket takes
		s.Add("progress", large)
	}
	s.End("end")
	resp, err := http.Get("http://" + server.Addr.String() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.HasSuffix(string(text), "data: \"end\"\n\n") {
		t.Errorf("the other viewer got %d bytes, %v; want the end", len(text), err)
	}
	server.Close()
	testkit.AwaitNoListener(t, server.Addr.String())
}

func TestViewersAreLimited(t *testing.T) {
	s := NewStory("start")
	server, err := Serve("127.0.0.1:0", fstest.MapFS{"web/index.html": {Data: []byte("<html>")}}, s)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	defer s.End("end")
	for i := range maxViewers + 1 {
		resp, err := http.Get("http://" + server.Addr.String() + "/events")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if i < maxViewers != (resp.StatusCode == 200) {
			t.Errorf("viewer %d gets %s", i+1, resp.Status)
		}
	}
}

func TestPageIsForItsOwnHostAndOrigin(t *testing.T) {
	own := fstest.MapFS{"web/index.html": {Data: []byte("<html>")}, "web/main.js": {Data: []byte("1")}}
	server, err := Serve("127.0.0.1:0", own, NewStory("start"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range []struct {
		path, host, origin string
		want               int
	}{
		{"/", "", "", 200},
		{"/", "localhost:1", "", 200},
		{"/", "[::1]:80", "", 200},
		{"/", "evil.example", "", http.StatusMisdirectedRequest},
		{"/page/main.js", "127.0.0.1", "http://127.0.0.1", 200},
		{"/page/chart.js", "", "", 200},
		{"/page/style.css", "", "", 200},
		{"/page/index.html", "", "", 404},
		{"/events", "localhost", "http://evil.example", http.StatusForbidden},
	} {
		req, err := http.NewRequest("GET", "http://"+server.Addr.String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		resp, _ := testkit.Do(t, http.DefaultClient, req)
		if resp.StatusCode != c.want {
			t.Errorf("%+v: %s", c, resp.Status)
		}
		if policy := resp.Header.Get("Content-Security-Policy"); c.want == 200 &&
			(!strings.HasPrefix(policy, "default-src 'none'; script-src 'self'") || strings.Contains(policy, "unsafe")) {
			t.Errorf("%s: the policy is %q", c.path, policy)
		}
	}
}
