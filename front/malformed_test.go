package front_test

import (
	"net/http"
	"testing"
)

// TestMalformedResponseGives502 has an upstream whose response has a valid head and a
// malformed body in the same packet. The client, the log and the metrics get a
// 502.
func TestMalformedResponseGives502(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		if c.request() != nil {
			c.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n")
		}
	})
	d := openDoor(t, "http://"+back)
	for i, c := range []*http.Client{httpClient(t), h2cClient(t)} {
		path := []string{"/1", "/2"}[i]
		resp, _ := get(t, c, d.url(path))
		if resp.StatusCode != 502 {
			t.Errorf("HTTP%s: %d, want 502", path, resp.StatusCode)
		}
		if e := d.completed(t, path); e.HTTP.StatusCode != 502 || e.Severity != 1 {
			t.Errorf("HTTP%s: the log has another status: %s", path, e.raw)
		}
	}
	if n := d.metric(t, `weir_requests_total{code="502",method="GET",route="/{path...}"}`); n != 2 {
		t.Errorf("%v requests are counted with 502, want 2", n)
	}
}
