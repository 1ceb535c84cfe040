package mirror

import (
	"bytes"
	"errors"
	"math"
	"net"
	"sync"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
)

// mirroredField marks a copy of a request.
const mirroredField = "X-Mirrored"

// maxMirrorResponse is the number of bytes of a response to a copy that are read and
// discarded. The connection of a longer response is closed.
const maxMirrorResponse = 1 << 20

// longestText is the capacity above which the text of a copy is not kept: a short body and a long head.
const longestText = proxying.ShortBody + 64<<10

// A requestCopy is a copy of a request in memory of its own.
type requestCopy struct {
	proxying.Exchange
	text   []byte // the strings
	body   bytes.Reader
	client discardingClient
}

var copies = sync.Pool{New: func() any { return new(requestCopy) }}

// fill copies a request that is about to be sent.
func (c *requestCopy) fill(x *stage.Exchange, body []byte) {
	c.Method, c.Target, c.Host = c.copy(x.Method), c.copy(x.Target), c.copy(x.Host)
	c.Scheme, c.SendHost = c.copy(x.Scheme), c.copy(x.SendHost)
	c.Header = c.copyFields(c.Header, x.Header)
	c.Send = append(c.copyFields(c.Send, x.Send), stage.Field{Name: mirroredField, Value: "1"})
	c.SendAdd = c.copyFields(c.SendAdd, x.SendAdd)
	c.SendRemove = x.SendRemove // of the configuration
	if c.Length = int64(len(body)); c.Length > 0 {
		start := len(c.text)
		c.text = append(c.text, body...)
		c.body.Reset(c.text[start:])
		c.Body = &c.body
	}
	c.Peer, c.Timeout = x.Peer, x.Timeout
	c.Client = &c.client
}

// copy returns a copy of s. It is a view into c.text, or into an earlier array of it.
func (c *requestCopy) copy(s string) string {
	start := len(c.text)
	c.text = append(c.text, s...)
	return httpsyntax.View(c.text[start:])
}

func (c *requestCopy) copyFields(dst, fields []stage.Field) []stage.Field {
	for _, f := range fields {
		dst = append(dst, stage.Field{Name: c.copy(f.Name), Value: c.copy(f.Value)})
	}
	return dst
}

func (c *requestCopy) reset() {
	c.Exchange.Reset()
	if c.text = c.text[:0]; cap(c.text) > longestText {
		c.text = nil
	}
	c.body.Reset(nil)
	c.client = discardingClient{}
}

// errDiscarded ends a copy whose response is longer than maxMirrorResponse.
var errDiscarded = errors.New("the response to a copy is not read further")

// A discardingClient discards a response.
type discardingClient struct{ read int }

func (d *discardingClient) Informational(int, []stage.Field) error { return nil }
func (d *discardingClient) Head(int, []stage.Field, int64) error   { return nil }
func (d *discardingClient) Room() (int, error)                     { return math.MaxInt, nil }
func (d *discardingClient) Flush() error                           { return nil }
func (d *discardingClient) Trailer([]stage.Field)                  {}
func (d *discardingClient) Duplex()                                {}
func (d *discardingClient) StopReading()                           {}
func (d *discardingClient) Tunnel() (proxying.Tunnel, []stage.Field, error) {
	return nil, nil, net.ErrClosed
}

func (d *discardingClient) Write(p []byte) (int, error) {
	if d.read += len(p); d.read > maxMirrorResponse {
		return 0, errDiscarded
	}
	return len(p), nil
}
