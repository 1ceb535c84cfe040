package front_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/sink"
)

// TestStalledLogStopsNoRejection stalls the log while connections are
// rejected. Others are still accepted and rejected, Serve returns, and the log
// gets all events when it continues.
func TestStalledLogStopsNoRejection(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	filled := testkit.FillPipe(t, w)
	d := newDoor(t, "http://127.0.0.1:1", limited(func(l *config.Limits) { l.MaxConnections = 1 }),
		func(c *config.Config) { c.Drain.Timeout = 0 })
	if d.Door, err = front.New(d.config, sink.NewDirect(w)); err != nil {
		t.Fatal(err)
	}
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()

	const surplus = 30
	for range 3 {
		admitted := dial(t, d.addr)
		testkit.AwaitEqual(t, "one to be let in", func() float64 { return d.inUse(t, "max_connections") }, 1)
		for range surplus {
			if status := knock(t, d.addr); status != 503 {
				t.Fatalf("one too many gets %d, want 503", status)
			}
		}
		admitted.Close()
		testkit.AwaitEqual(t, "the one that was in to be gone", func() float64 { return d.inUse(t, "max_connections") }, 0)
	}
	if err := d.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}

	if _, err := io.CopyN(io.Discard, r, filled); err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(testTimeout))
	told := 0
	for lines := bufio.NewScanner(r); told < 3*surplus && lines.Scan(); {
		_, count, ok := strings.Cut(lines.Text(), `"count":`)
		var n int
		if _, err := fmt.Sscan(strings.TrimRight(count, "}"), &n); !ok || err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		told += n
	}
	if told != 3*surplus {
		t.Errorf("the log tells of %d connections, want %d", told, 3*surplus)
	}
	w.Close()
}

// inUse returns the use of a limit of all routes.
func (d *testDoor) inUse(t testing.TB, limit string) float64 {
	t.Helper()
	return d.metric(t, fmt.Sprintf(`weir_limit_in_use{limit=%q,route="all"}`, limit))
}

// knock sends a request on a new connection and returns the status of the
// response.
func knock(t testing.TB, addr string) int {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(testTimeout))
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
