package proxying_test

import (
	"errors"
	"math"
	"net/netip"
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// A sink is a Client that only counts.
type sink struct {
	heads, bytes, status int
}

func (s *sink) Informational(int, []proxying.Field) error { return nil }
func (s *sink) Head(status int, _ []proxying.Field, _ int64) error {
	s.heads++
	s.status = status
	return nil
}
func (s *sink) Write(p []byte) (int, error) { s.bytes += len(p); return len(p), nil }
func (s *sink) Flush() error                { return nil }
func (s *sink) Trailer([]proxying.Field)    {}
func (s *sink) Duplex()                     {}
func (s *sink) StopReading()                {}
func (s *sink) Room() (int, error)          { return math.MaxInt, nil }
func (s *sink) Tunnel() (proxying.Tunnel, []proxying.Field, error) {
	return nil, nil, errors.New("no tunnel")
}

// fill makes x a plain GET whose response goes to client.
func fill(x *proxying.Exchange, client proxying.Client) {
	x.Method, x.Target, x.Host, x.Scheme = "GET", "/a/b?c", "a.example", "http"
	x.Header = append(x.Header,
		proxying.Field{Name: "Accept", Value: "*/*"},
		proxying.Field{Name: "User-Agent", Value: "test"})
	x.Peer = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	x.Client = client
}

func newExchange() *proxying.Exchange {
	x := new(proxying.Exchange)
	fill(x, new(sink))
	return x
}

// A fieldsOf is a Client that keeps the fields and trailers of the response.
type fieldsOf struct {
	sink
	fields, trailer []proxying.Field
}

func (c *fieldsOf) Trailer(fields []proxying.Field) { c.trailer = slices.Clone(fields) }

func (c *fieldsOf) Head(_ int, fields []proxying.Field, _ int64) error {
	c.fields = slices.Clone(fields)
	return nil
}

// TestFieldNamesKeepOrderAndCase checks that request fields are forwarded in the order and case in which
// they are in Header, and that fields with a meaning are recognised in any case.
func TestFieldNamesKeepOrderAndCase(t *testing.T) {
	t.Parallel()
	got := make(chan *message, 1)
	o := openOrigin(t, answering("HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\ncONNECTION: x-HOP\r\nX-hop: 1\r\n"+
		"kEEP-alive: 1\r\nX-own: 2\r\n\r\nok", got))
	up := openUpstream(t, proxying.Options{}, o.url)
	client := new(fieldsOf)
	x := newExchange()
	x.Client, x.Header = client, []proxying.Field{
		{Name: "cookie", Value: "1"}, {Name: "ACCEPT", Value: "2"}, {Name: "conNECTION", Value: "x-Hop, tE"},
		{Name: "X-hOP", Value: "3"}, {Name: "cookie", Value: "4"}, {Name: "x-forwarded-FOR", Value: "5"},
		{Name: "TE", Value: "trailers"}, {Name: "hOST", Value: "6"}, {Name: "b", Value: "7"}, {Name: "a", Value: "8"},
	}
	(&proxying.Proxy{Upstream: up}).Serve(x)
	if x.Err != nil {
		t.Fatal(x.Err)
	}
	sent := (<-got).lines
	want := []string{"Host: a.example", "cookie: 1", "ACCEPT: 2", "cookie: 4", "b: 7", "a: 8", "X-Forwarded-For: 127.0.0.1"}
	if len(sent) < len(want) || !slices.Equal(sent[:len(want)], want) {
		t.Errorf("the upstream received %q, want first %q", sent, want)
	}
	fields := []proxying.Field{{Name: "Content-Length", Value: "2"}, {Name: "X-own", Value: "2"}}
	if !slices.Equal(client.fields, fields) || client.bytes != 2 {
		t.Errorf("the client received %q and %d bytes, want %q and 2", client.fields, client.bytes, fields)
	}
}
