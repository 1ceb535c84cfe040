package otlpsink

import (
	"context"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/weirhq/weir/log/stream"
)

// pingTime is the time without a frame after which a connection of HTTP/2 is checked, and the time that the check may
// take. Otherwise a network that is cut would hold one up for a quarter of an hour.
const pingTime = 5 * time.Second

// A Client sends requests of any signal, which its caller has encoded, such as metrics. Goroutines must not share it.
// For lines of a log or spans, [New] and [NewSpans] encode and divide the requests.
type Client struct {
	address   *address
	transport *http.Transport
	file      headerFile
	header    http.Header // of the requests
	compress  *compressor
	items     string // for messages
}

// NewClient returns a Client for a URL, which the package comment describes, and the path of the signal's requests,
// such as /v1/metrics. It does not wait for the server. Its errors do not contain the user and the password.
func NewClient(url, path string) (*Client, error) {
	a, err := parse(url, path)
	if err != nil {
		return nil, err
	}
	c := &Client{address: a, file: headerFile{name: a.headers}, items: "items"}
	if c.compress, err = newCompressor(a.compression); err != nil {
		return nil, err
	}
	if err := c.setHeader(); err != nil {
		return nil, err
	}
	c.transport = &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: a.timeout}).DialContext,
		TLSClientConfig:     a.tls,
		TLSHandshakeTimeout: a.timeout,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     time.Minute,
		WriteBufferSize:     64 << 10, // one system call for most requests
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingTime, PingTimeout: pingTime},
	}
	return c, nil
}

// Send sends an encoded request with that number of items, at least 1, such as an ExportMetricsServiceRequest and its
// data points. After a [*stream.RejectedError] the server has not stored some of the items, and never will; its Lines is
// their number. After any other error the request may be sent again; a [*stream.UnavailableError] says when. Send does
// not keep the message.
func (c *Client) Send(ctx context.Context, message []byte, items int) error {
	if err := c.setHeader(); err != nil {
		return err
	}
	r, err := c.post(ctx, message, items)
	if err == nil && r.lines > 0 {
		err = &stream.RejectedError{Lines: r.lines, Err: r.cause}
	}
	return err
}

// Close closes the connections that are idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// setHeader sets the header fields of the requests, if the file with some of them is new.
func (c *Client) setHeader() error {
	fields, changed, err := c.file.read()
	if err != nil || !changed && c.header != nil {
		return err
	}
	c.header = http.Header{"User-Agent": {"weir-otlpsink"}}
	if c.address.authorization != "" {
		c.header.Set("Authorization", c.address.authorization)
	}
	maps.Copy(c.header, fields)
	c.header.Set("Content-Type", "application/x-protobuf")
	if c.address.compression != "none" {
		c.header.Set("Content-Encoding", c.address.compression)
	}
	return nil
}
