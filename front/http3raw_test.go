package front_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// A rawHTTP3 is an HTTP/3 client that sends any fields and frames.
type rawHTTP3 struct {
	t    testing.TB
	conn *quic.Conn
}

func (d *tlsDoor) dialHTTP3(t testing.TB) *rawHTTP3 {
	t.Helper()
	return dialHTTP3(t, d.client("localhost"), d.secure)
}

func dialHTTP3(t testing.TB, c *tls.Config, addr string) *rawHTTP3 {
	t.Helper()
	c.NextProtos = []string{"h3"}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	conn, err := quic.DialAddr(ctx, addr, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseWithError(0x100, "") })
	control, err := conn.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	control.Write([]byte{0, 4, 0}) // an empty SETTINGS frame
	return &rawHTTP3{t, conn}
}

// open opens a stream, as soon as the door allows it.
func (h *rawHTTP3) open() (*quic.Stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	return h.conn.OpenStreamSync(ctx)
}

// frame3 returns a frame.
func frame3(kind uint64, payload []byte) []byte {
	b := quicvarint.Append(nil, kind)
	return append(quicvarint.Append(b, uint64(len(payload))), payload...)
}

// fields3 returns a HEADERS frame with alternating names and values.
func fields3(fields ...string) []byte {
	var b bytes.Buffer
	enc := qpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		enc.WriteField(qpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return frame3(1, b.Bytes())
}

// send sends frames on a stream of their own, and returns the status of the response, or 0 if the stream or the
// connection was reset.
func (h *rawHTTP3) send(frames ...[]byte) (status int) {
	h.t.Helper()
	s, err := h.open()
	if err != nil {
		h.t.Fatal(err)
	}
	s.SetDeadline(time.Now().Add(testTimeout))
	s.Write(bytes.Join(frames, nil)) // the door may not read all
	s.Close()
	r := bufio.NewReader(s)
	for {
		kind, err := quicvarint.Read(r)
		if err != nil {
			return status
		}
		length, err := quicvarint.Read(r)
		if err != nil {
			return status
		}
		payload := make([]byte, length)
		if _, err := io.ReadFull(r, payload); err != nil {
			return status
		}
		if kind == 1 && status == 0 {
			field, err := qpack.NewDecoder().Decode(payload)()
			if err != nil || field.Name != ":status" {
				h.t.Fatalf("a response begins with %v, %v", field, err)
			}
			status, _ = strconv.Atoi(field.Value)
		}
	}
}

// closedWith waits for the end of the connection, and returns the code with which the door has ended it.
func (h *rawHTTP3) closedWith() quic.ApplicationErrorCode {
	h.t.Helper()
	select {
	case <-h.conn.Context().Done():
	case <-time.After(testTimeout):
		h.t.Fatal("the connection does not end")
	}
	var closed *quic.ApplicationError
	if err := context.Cause(h.conn.Context()); !errors.As(err, &closed) || !closed.Remote {
		h.t.Fatalf("the connection has ended with %v", err)
	}
	return closed.ErrorCode
}
