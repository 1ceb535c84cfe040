package otlpsink

import (
	"bytes"
	"context"
	"maps"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/weirhq/weir/log/stream"
)

// maxSplits limits the requests into which a batch is divided. One line that the server
// refuses takes one for each power of two below the number of lines.
const maxSplits = 32

// A Destination sends lines to a server. Make one with [New] or [NewSpans].
type Destination struct {
	signal    *signal
	address   *address
	transport *http.Transport
	file      headerFile
	header    http.Header // of the requests
	encoder   encoder
	compress  *compressor
}

var (
	logs = signal{path: "/v1/logs", scope: "github.com/weirhq/weir/log", items: "events",
		attributes: recordAttributes, hasUID: true, event: (*encoder).logRecord, text: (*encoder).logText}
	spans = signal{path: "/v1/traces", scope: "github.com/weirhq/weir", items: "spans",
		attributes: spanAttributes, event: (*encoder).span,
		text: func(e *encoder, line string) { e.buf = appendText(e.buf, spanName, line) }}
)

// New returns a Destination for a URL; the package comment describes its parts. New does not
// wait for the server. Its errors do not contain the user and the password.
func New(url string) (*Destination, error) { return newDestination(url, &logs) }

// NewSpans is New for lines that are spans; see the package comment.
func NewSpans(url string) (*Destination, error) { return newDestination(url, &spans) }

func newDestination(url string, s *signal) (*Destination, error) {
	a, err := parse(url, s.path)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // the attribute is optional
	d := &Destination{signal: s, address: a, file: headerFile{name: a.headers},
		encoder: encoder{signal: s, now: time.Now, host: host}}
	if d.compress, err = newCompressor(a.compression); err != nil {
		return nil, err
	}
	if err := d.setHeader(); err != nil {
		return nil, err
	}
	d.transport = &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: a.timeout}).DialContext,
		TLSClientConfig:     a.tls,
		TLSHandshakeTimeout: a.timeout,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     time.Minute,
		WriteBufferSize:     64 << 10, // one system call for most requests
	}
	return d, nil
}

// setHeader sets the header fields of the requests, if the file with some of them is new.
func (d *Destination) setHeader() error {
	fields, changed, err := d.file.read()
	if err != nil || !changed && d.header != nil {
		return err
	}
	d.header = http.Header{"User-Agent": {"weir-otlpsink"}}
	if d.address.authorization != "" {
		d.header.Set("Authorization", d.address.authorization)
	}
	maps.Copy(d.header, fields)
	d.header.Set("Content-Type", "application/x-protobuf")
	if d.address.compression != "none" {
		d.header.Set("Content-Encoding", d.address.compression)
	}
	return nil
}

// Deliver implements [stream.Destination].
func (d *Destination) Deliver(ctx context.Context, b stream.Batch) error {
	if err := d.setHeader(); err != nil {
		return err
	}
	s := delivery{Destination: d, splits: maxSplits}
	if err := s.send(ctx, b); err != nil {
		return err
	}
	if s.rejected > 0 {
		return &stream.RejectedError{Lines: s.rejected, Err: s.cause}
	}
	return nil
}

// Close implements [stream.Destination].
func (d *Destination) Close() error {
	d.transport.CloseIdleConnections()
	return nil
}

var _ stream.Destination = (*Destination)(nil)

// A delivery is the delivery of one batch.
type delivery struct {
	*Destination
	splits   int   // that are left
	rejected int   // lines
	cause    error // of the last rejection
}

// send sends a batch. If the server refuses it because of its lines, send divides it.
func (s *delivery) send(ctx context.Context, b stream.Batch) error {
	r, err := s.post(ctx, b)
	switch {
	case err != nil:
		return err
	case r.divisible && b.Count > 1 && s.splits > 0:
		s.splits--
		head, tail := halves(b)
		if err := s.send(ctx, head); err != nil {
			return err
		}
		return s.send(ctx, tail)
	case r.lines > 0:
		s.rejected += r.lines
		s.cause = r.cause
	}
	return nil
}

// halves divides a batch of several lines.
func halves(b stream.Batch) (head, tail stream.Batch) {
	head, tail = b, b
	head.Count = b.Count / 2
	tail.Count -= head.Count
	tail.First += uint64(head.Count)
	for range head.Count {
		tail.Lines = tail.Lines[bytes.IndexByte(tail.Lines, '\n')+1:]
	}
	head.Lines = b.Lines[:len(b.Lines)-len(tail.Lines)]
	return head, tail
}
