package proxying_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// A narrow is a client that takes few bytes at a time, and keeps those that it
// got.
type narrow struct {
	sink
	rooms   func() int
	most    int // maximum number of bytes written between two calls of Room
	since   int
	asked   int
	failure error // returned by Room
	got     bytes.Buffer
}

func (n *narrow) Room() (int, error) {
	n.asked++
	n.since = 0
	return n.rooms(), n.failure
}

func (n *narrow) Write(p []byte) (int, error) {
	n.since += len(p)
	n.most = max(n.most, n.since)
	return n.got.Write(p)
}

// long returns a body and responses that contain it, in the two codings without
// a known length.
func long(size int) (body string, answers map[string]string) {
	body = strings.Repeat("0123456789abcdef", size/16)
	var chunks strings.Builder
	for left := body; left != ""; {
		n := min(len(left), 7919)
		fmt.Fprintf(&chunks, "%x\r\n%s\r\n", n, left[:n])
		left = left[n:]
	}
	return body, map[string]string{
		"length": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
		"chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks.String() + "0\r\nX-Sum: 1\r\n\r\n",
	}
}

// TestRoomLimitsReadingAhead checks that, beyond one block of a response, no more is read from
// the upstream than the client takes, and that the whole response arrives.
func TestRoomLimitsReadingAhead(t *testing.T) {
	t.Parallel()
	const first, least = 32 << 10, 4 << 10
	body, answers := long(1 << 20)
	for name, answer := range answers {
		for _, room := range []int{0, least, 5000, first, 100_000} {
			t.Run(fmt.Sprintf("%s, room for %d", name, room), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(1, uint64(room)))
				client := &narrow{rooms: func() int { return room/2 + random.IntN(room/2+1) }}
				p := &proxying.Proxy{Upstream: upstreamOf(t, openOrigin(t, answering(answer, nil)))}
				var x proxying.Exchange
				for range 2 { // the second time with the connection of the first
					x.Reset()
					fill(&x, client)
					client.got.Reset()
					client.since = 0
					p.Serve(&x)
					if x.Err != nil || client.got.String() != body {
						t.Fatalf("%d bytes of %d arrived, or others: %v", client.got.Len(), len(body), x.Err)
					}
				}
				if most := max(first, room, least); client.most > most {
					t.Errorf("%d bytes came at once, want %d at most", client.most, most)
				}
				if client.asked < (len(body)-first)/max(room, least) {
					t.Errorf("the client was asked %d times", client.asked)
				}
			})
		}
	}
}

// TestShortResponseDoesNotCallRoom checks that a response that fits a block does not call Room,
// and that an error of Room counts as the client's.
func TestShortResponseDoesNotCallRoom(t *testing.T) {
	t.Parallel()
	short, _ := long(30 << 10)
	client := &narrow{rooms: func() int { return 0 }}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(short))
	p := &proxying.Proxy{Upstream: upstreamOf(t, openOrigin(t, answering(head+short, nil)))}
	var x proxying.Exchange
	fill(&x, client)
	p.Serve(&x)
	if x.Err != nil || client.got.String() != short || client.asked > 0 {
		t.Errorf("%d bytes arrived, the client was asked %d times: %v", client.got.Len(), client.asked, x.Err)
	}
	_, answers := long(1 << 20)
	client = &narrow{rooms: func() int { return 0 }, failure: io.ErrClosedPipe}
	p = &proxying.Proxy{Upstream: upstreamOf(t, openOrigin(t, answering(answers["length"], nil)))}
	x.Reset()
	fill(&x, client)
	p.Serve(&x)
	if failure, ok := x.Err.(*proxying.Error); !ok || failure.Kind != proxying.ClientGone || !x.Cut {
		t.Errorf("the exchange ended with %v, cut %v; want a client that is gone", x.Err, x.Cut)
	}
}

func upstreamOf(t *testing.T, o *origin) *proxying.Upstream {
	t.Helper()
	up := openUpstream(t, proxying.Options{}, o.url)
	t.Cleanup(up.Close)
	return up
}
