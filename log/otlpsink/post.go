package otlpsink

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/stream"
)

// Limits for servers that misbehave.
const (
	maxResponse   = 64 << 10 // bytes
	maxMessage    = 200      // bytes of a message in an error
	maxRetryAfter = 5 * time.Minute
)

// A refusal is the response to lines that the server has not stored and never will. Its zero
// value means that it has stored all.
type refusal struct {
	lines     int
	divisible bool // whether the server may store some of them in smaller requests
	cause     error
}

// post sends a request with that number of lines. An error means that it has to be sent again.
func (c *Client) post(ctx context.Context, message []byte, lines int) (refusal, error) {
	text, err := c.compress.compress(message)
	if err != nil {
		return refusal{}, err
	}
	limited, cancel := context.WithTimeout(ctx, c.address.timeout)
	defer cancel()
	body := &body{rest: text}
	defer body.Close() // the transport may read it even after RoundTrip, but text has other content soon
	req, err := http.NewRequestWithContext(limited, http.MethodPost, c.address.url, body)
	if err != nil {
		return refusal{}, err
	}
	req.Header, req.ContentLength = c.header, int64(len(text))
	// Not http.Client, which would send a token to the target of a redirect.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("no response within %s", c.address.timeout)
			c.transport = c.transport.Clone() // HTTP/2 would use the connection again, which may be cut
		}
		return refusal{}, fmt.Errorf("%s: %w", c.address.url, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return refusal{}, fmt.Errorf("%s: %w", c.address.url, err)
	}
	return c.outcome(resp, content, lines)
}

// outcome interprets a response to a request with that number of lines.
func (c *Client) outcome(resp *http.Response, content []byte, lines int) (refusal, error) {
	if resp.StatusCode/100 == 2 {
		if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); kind == "text/html" {
			return refusal{}, fmt.Errorf("%s responded with a page: it is not a server of OTLP", c.address.url)
		}
		rejected, message := partialSuccess(content)
		if rejected == 0 {
			return refusal{}, nil
		}
		return refusal{lines: min(rejected, lines), cause: fmt.Errorf("%s rejected %d %s: %q", c.address.url, rejected,
			c.items, clip(message))}, nil
	}
	err := fmt.Errorf("%s responded with %d %s", c.address.url, resp.StatusCode, http.StatusText(resp.StatusCode))
	if message := statusMessage(resp, content); message != "" {
		err = fmt.Errorf("%w: %q", err, clip(message))
	}
	switch code := resp.StatusCode; code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		http.StatusRequestTimeout, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusProxyAuthRequired:
		return refusal{}, &stream.UnavailableError{After: retryAfter(resp.Header.Get("Retry-After")), Err: err}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return refusal{lines, true, err}, nil
	default:
		if code/100 == 3 {
			return refusal{}, &stream.UnavailableError{Err: fmt.Errorf("%w: redirects are not followed", err)}
		}
		return refusal{lines, false, err}, nil
	}
}

// retryAfter parses the header field Retry-After: seconds or a date.
func retryAfter(value string) time.Duration {
	if value == "" {
		return 0
	}
	after := maxRetryAfter
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = time.Until(at)
	} else {
		return 0
	}
	return min(max(after, 0), maxRetryAfter)
}

// partialSuccess returns the fields of the ExportLogsPartialSuccess in an
// ExportLogsServiceResponse. Those of traces have the same numbers.
func partialSuccess(response []byte) (rejected int, message string) {
	partial, _ := fieldsOf(response, 1)
	text, number := fieldsOf(partial, 2)
	return int(min(max(int64(number), 0), 1<<31-1)), string(text)
}

// statusMessage returns the message of the google.rpc.Status in the response with an error, or
// the response itself.
func statusMessage(resp *http.Response, content []byte) string {
	if resp.Header.Get("Content-Type") == "application/x-protobuf" {
		content, _ = fieldsOf(content, 2)
	}
	return string(content)
}

// fieldsOf returns the last value of a field of a message that is a text, and the number in
// field 1. If the message is not valid, it returns those before the error.
func fieldsOf(message []byte, field protowire.Number) (text []byte, number uint64) {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(num, kind, message[n:])
		if size < 0 {
			break
		}
		switch {
		case num == field && kind == protowire.BytesType:
			text, _ = protowire.ConsumeBytes(message[n:])
		case num == 1 && kind == protowire.VarintType:
			number, _ = protowire.ConsumeVarint(message[n:])
		}
		message = message[n+size:]
	}
	return text, number
}

func clip(message string) string { return message[:min(len(message), maxMessage)] }

// A body is the body of a request. Any goroutine may use it.
type body struct {
	mu   sync.Mutex // guards rest
	rest []byte     // nil after Close
}

func (b *body) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest = nil
	return nil
}
