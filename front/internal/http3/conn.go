package http3

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/weirhq/weir/internal/floodbudget"
)

// An Owner is the user of a connection. Its methods are called concurrently.
type Owner interface {
	// Serve serves a request with a valid head. It calls [Stream.Close] at its end.
	Serve(s *Stream)

	// Failed is called when this side ends the connection, or one of its streams, because of an error of the client.
	Failed(e *Error, client netip.Addr, connection bool)
}

// Limits are the limits of a connection, which may change.
type Limits struct {
	Header        int           // maximum length of the head of a request, as RFC 9114, section 4.2.2, counts it
	HeaderTimeout time.Duration // until the first request, and for each head; for handshakes as in NewServer
	IdleTimeout   time.Duration // without a request in progress
}

// A conn is a connection after its handshake. It ends itself if it is idle.
type conn struct {
	quic    *quic.Conn
	limits  func() Limits
	owner   Owner
	control *quic.SendStream // of this side

	mu                    sync.Mutex // guards the fields below
	active                int        // requests in progress
	next                  quic.StreamID
	away                  bool // a GOAWAY was sent
	over                  bool // fail was called
	slow                  bool // a head did not become complete
	timer                 *time.Timer
	resets, empty, others floodbudget.Budget
	seen                  [4]bool // the types of unidirectional streams of the client
}

// serve serves the connection until its end.
func (c *conn) serve() {
	const maxFieldSection = 0x6 // a setting
	b := quicvarint.Append(nil, controlStream)
	b = quicvarint.Append(b, settingsFrame)
	setting := quicvarint.Append(quicvarint.Append(nil, maxFieldSection), uint64(c.limits().Header))
	b = append(quicvarint.Append(b, uint64(len(setting))), setting...)
	if _, err := c.control.Write(b); err != nil {
		return
	}
	var streams sync.WaitGroup
	streams.Go(c.acceptUni)
	for {
		s, err := c.quic.AcceptStream(context.Background())
		if err != nil {
			break // the connection has ended
		}
		if !c.begin(s.StreamID()) {
			s.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
			s.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestRejected))
			s.ReleaseStreamCredit()
			continue
		}
		streams.Go(func() {
			stream := newStream(c, s)
			if err := stream.readHead(); err != nil {
				stream.refuse(err)
				return
			}
			c.owner.Serve(stream)
		})
	}
	streams.Wait()
}

// begin reports whether a new stream is served.
func (c *conn) begin(id quic.StreamID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away && id >= c.next {
		return false
	}
	c.next = max(c.next, id+4)
	c.active++
	c.timer.Stop()
	return true
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
	if c.away || c.slow {
		return goAwayGrace
	}
	return c.limits().IdleTimeout
}

// peer returns the address of the client. It changes if the client migrates.
func (c *conn) peer() netip.AddrPort { return addressOf(c.quic.RemoteAddr()) }

func addressOf(a net.Addr) netip.AddrPort {
	addr := a.(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(addr.Addr().WithZone("").Unmap(), addr.Port())
}

// expire ends the connection, because it has been idle for too long.
func (c *conn) expire() {
	c.mu.Lock()
	idle := c.active == 0
	c.mu.Unlock()
	if idle {
		c.close(http3.ErrCodeNoError, "")
	}
}

func (c *conn) close(code http3.ErrCode, detail string) {
	c.quic.CloseWithError(quic.ApplicationErrorCode(code), detail)
}

// fail ends the connection because of an error of the client, and returns the error.
func (c *conn) fail(e *Error) error {
	c.mu.Lock()
	again := c.over
	c.over = true
	c.mu.Unlock()
	if !again {
		c.owner.Failed(e, c.peer().Addr(), true)
		c.close(e.Code, e.Detail)
	}
	return errFailed
}

// streamFailed reports an error of a stream, which is reset because of it.
func (c *conn) streamFailed(e *Error) {
	c.mu.Lock()
	c.slow = c.slow || e.Reason == SlowHead
	c.mu.Unlock()
	c.owner.Failed(e, c.peer().Addr(), false)
	c.spend(&c.resets, floodbudget.Resets, Resets)
}

// spend counts one use of a budget. If it is used up, the connection fails.
func (c *conn) spend(b *floodbudget.Budget, q floodbudget.Quota, r Reason) error {
	c.mu.Lock()
	ok := b.Spend(q, time.Now())
	c.mu.Unlock()
	if !ok {
		return c.fail(flood(r))
	}
	return nil
}

// earnReset takes back one use of the budget of resets, after a request that was served.
func (c *conn) earnReset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resets.Earn()
}

// goAwayGrace is how long a connection without requests stays open after its GOAWAY. Most clients end it themselves. A
// request that was sent before the client got the GOAWAY must arrive within this time, and its rejection at the client:
// otherwise the client sees the end of the connection instead, and does not know that it can repeat the request.
const goAwayGrace = time.Second

// goAway sends a GOAWAY. The connection ends after its requests.
func (c *conn) goAway() {
	c.mu.Lock()
	if c.away {
		c.mu.Unlock()
		return
	}
	c.away = true
	id := quicvarint.Append(nil, uint64(c.next))
	if c.active == 0 {
		c.timer.Reset(goAwayGrace)
	}
	c.mu.Unlock()
	b := quicvarint.Append(quicvarint.Append(nil, goAwayFrame), uint64(len(id)))
	c.control.Write(append(b, id...)) // ends with the connection
}

// The types of unidirectional streams (RFC 9114, section 6.2; RFC 9204, section 4.2).
const (
	controlStream = 0
	pushStream    = 1
	encoderStream = 2
	decoderStream = 3
)

// acceptUni accepts the unidirectional streams of the client.
func (c *conn) acceptUni() {
	var streams sync.WaitGroup
	defer streams.Wait()
	for {
		s, err := c.quic.AcceptUniStream(context.Background())
		if err != nil {
			return
		}
		streams.Go(func() {
			defer s.ReleaseStreamCredit()
			c.readUni(s)
		})
	}
}

// readUni reads a unidirectional stream.
func (c *conn) readUni(s *quic.ReceiveStream) {
	in := bufio.NewReaderSize(s, 256)
	kind, err := readInt(in)
	switch {
	case err != nil:
		return
	case kind > decoderStream: // unknown
		s.CancelRead(quic.StreamErrorCode(http3.ErrCodeStreamCreationError))
		return
	}
	c.mu.Lock()
	again := c.seen[kind]
	c.seen[kind] = true
	c.mu.Unlock()
	switch {
	case kind == pushStream || again:
		c.fail(&Error{http3.ErrCodeStreamCreationError, Protocol, "a stream that a client cannot open, or not again", 0})
		return
	case kind == controlStream:
		err = c.readControl(in)
	default: // the dynamic table is not used, so that there are no instructions of interest
		_, err = io.Copy(io.Discard, in)
	}
	var reset *quic.StreamError
	switch {
	case err == errControl:
		c.fail(&Error{http3.ErrCodeFrameUnexpected, Protocol, err.Error(), 0})
	case err == nil, err == io.EOF, err == io.ErrUnexpectedEOF, errors.As(err, &reset): // and not that of the connection
		c.fail(&Error{http3.ErrCodeClosedCriticalStream, Protocol, "a stream of the connection has ended", 0})
	}
}

// readControl reads the frames of the client's control stream. None has an effect: there are no pushes, the client's
// settings concern nothing that is sent, and PRIORITY_UPDATE is advice (RFC 9218, section 7).
func (c *conn) readControl(in *bufio.Reader) error {
	for first := true; ; first = false {
		kind, length, err := readFrame(in)
		switch {
		case err != nil:
			return err
		case first && kind != settingsFrame:
			return c.fail(&Error{http3.ErrCodeMissingSettings, Protocol, "the first frame is not SETTINGS", 0})
		case !first && kind == settingsFrame, kind == dataFrame, kind == headersFrame, kind == 0x5, ofHTTP2[kind]:
			return errControl
		}
		if err := c.spend(&c.others, floodbudget.Others, OtherFrames); err != nil {
			return err
		}
		if err := skip(in, length); err != nil {
			return err
		}
	}
}
