package http3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// A conn is a connection after its handshake. It ends itself if it is idle.
type conn struct {
	quic    *quic.Conn
	http    *http3.Server // of this connection
	limits  Limits
	handler http.Handler

	mu     sync.Mutex // guards the fields below
	active int        // requests in progress
	away   bool       // a GOAWAY was sent
	timer  *time.Timer
}

// handle serves a request.
func (c *conn) handle(w http.ResponseWriter, r *http.Request) {
	c.begin()
	defer c.end()
	if !readAhead(r, c.limits.HeaderTimeout, w) {
		panic(http.ErrAbortHandler)
	}
	if r.ContentLength != 0 {
		r.Body = body{r.Body}
	}
	c.handler.ServeHTTP(w, r)
}

// A body is the body of a request. If the client resets the stream, its error wraps
// io.ErrUnexpectedEOF.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var reset *http3.Error
	if errors.As(err, &reset) && reset.Remote {
		err = fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return n, err
}

func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active++
	c.timer.Stop()
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active--; c.active == 0 {
		c.timer.Reset(c.patience())
	}
}

// patience returns how long the connection may be without requests. The caller holds mu.
func (c *conn) patience() time.Duration {
	if c.away {
		return goAwayGrace
	}
	return c.limits.IdleTimeout
}

// expire ends the connection, because it has been idle for too long.
func (c *conn) expire() {
	c.mu.Lock()
	idle := c.active == 0
	c.mu.Unlock()
	if idle {
		c.quic.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
	}
}

// goAway sends a GOAWAY and waits for the end of the connection.
func (c *conn) goAway() {
	c.mu.Lock()
	if c.away = true; c.active == 0 {
		c.timer.Reset(goAwayGrace)
	}
	c.mu.Unlock()
	c.http.Shutdown(context.Background()) // ends with the connection
}

// readAhead determines whether a request without Content-Length has a body. Its methods
// usually have none, but the end of the stream may be in a later packet than the head. Without
// this wait, the body would be one of unknown length. readAhead returns false if the client
// does not send the end, or a byte, within the timeout.
func readAhead(r *http.Request, timeout time.Duration, w http.ResponseWriter) bool {
	if r.ContentLength >= 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		return true
	}
	stream := http.NewResponseController(w)
	stream.SetReadDeadline(time.Now().Add(timeout))
	var first [1]byte
	n, err := io.ReadFull(r.Body, first[:])
	stream.SetReadDeadline(time.Time{})
	switch {
	case n > 0:
		r.Body = readCloser{io.MultiReader(bytes.NewReader(first[:n]), r.Body), r.Body}
	case err == io.EOF:
		r.ContentLength, r.Body = 0, http.NoBody
	default:
		return false
	}
	return true
}

type readCloser struct {
	io.Reader
	io.Closer
}
