package proxy_test

import (
	"errors"
	"math"
	"net/netip"

	"github.com/weirhq/weir/proxy"
)

// A sink is a Client that only counts.
type sink struct {
	heads, bytes, status int
}

func (s *sink) Informational(int, []proxy.Field) error { return nil }
func (s *sink) Head(status int, _ []proxy.Field, _ int64) error {
	s.heads++
	s.status = status
	return nil
}
func (s *sink) Write(p []byte) (int, error) { s.bytes += len(p); return len(p), nil }
func (s *sink) Flush() error                { return nil }
func (s *sink) Trailer([]proxy.Field)       {}
func (s *sink) Duplex()                     {}
func (s *sink) StopReading()                {}
func (s *sink) Room() (int, error)          { return math.MaxInt, nil }
func (s *sink) Tunnel() (proxy.Tunnel, []proxy.Field, error) {
	return nil, nil, errors.New("no tunnel")
}

// fill makes x a plain GET whose response goes to client.
func fill(x *proxy.Exchange, client proxy.Client) {
	x.Method, x.Target, x.Host, x.Scheme = "GET", "/a/b?c", "a.example", "http"
	x.Header = append(x.Header,
		proxy.Field{Name: "Accept", Value: "*/*"},
		proxy.Field{Name: "User-Agent", Value: "test"})
	x.Peer = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	x.Client = client
}

func newExchange() *proxy.Exchange {
	x := new(proxy.Exchange)
	fill(x, new(sink))
	return x
}
