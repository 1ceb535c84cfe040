package http3

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/floodbudget"
	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/transport"
)

// A Stream is one exchange. One goroutine may read from it and one may write to it. It is released with Close, and must
// not be used afterwards.
type Stream struct {
	conn *conn
	quic *quic.Stream

	// Request is the head that the client has sent. It does not change.
	Request httphead.Request

	// Of the reader:
	in       *bufio.Reader
	fields   []hpack.HeaderField // of Request, or trailers
	declared int64               // content-length; -1 for none
	received int64               // length of the data in the frames so far
	left     uint64              // data of the current frame that was not read
	trailed  bool                // a frame with trailers was read
	failed   error               // why there is no more data; io.EOF at the end
	reported bool                // failed was reported to the owner

	trailers []hpack.HeaderField

	writing   sync.Mutex  // guards the fields below
	out       []byte      // frames that were not sent
	headSent  atomic.Bool // the final head is in out, or was sent
	sentEnded bool

	stop func() bool // of the cancellation
	mu   sync.Mutex  // guards user
	user interface{ Cancel() }
}

const (
	// inputSize is the size of the buffer of a reader. Longer reads of data do without it.
	inputSize = 2 << 10
	// outputSize is the length of the output of a stream from which it is sent.
	outputSize = 4 << 10
)

var inputs = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, inputSize) }}

func newStream(c *conn, qs *quic.Stream) *Stream {
	s := &Stream{conn: c, quic: qs, in: inputs.Get().(*bufio.Reader), stop: func() bool { return true }}
	s.in.Reset(qs)
	return s
}

// Peer returns the address of the client.
func (s *Stream) Peer() netip.AddrPort { return s.conn.peer() }

// readHead reads the head of the request. Its time is limited.
func (s *Stream) readHead() error {
	s.quic.SetReadDeadline(time.Now().Add(s.conn.limits().HeaderTimeout))
	s.declared = -1
	kind, length, err := s.frame()
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case kind != headersFrame:
		return s.conn.fail(&Error{http3.ErrCodeFrameUnexpected, Protocol, "DATA before a head", 0})
	}
	if err := s.readFields(length); err != nil {
		return err
	}
	r := &s.Request
	if _, fault := r.Read(s.fields, false, nil); fault.Status != 0 {
		e := malformed(fault.Reason)
		if e.Status = fault.Status; e.Status == 417 {
			e.Code, e.Reason = http3.ErrCodeNoError, Expectation
		}
		return e
	}
	for _, f := range r.Fields {
		if f.Name == "priority" {
			s.quic.SetPriority(priority(f.Value))
		}
	}
	s.declared = r.Length
	if r.Length == 0 || r.Length < 0 && !r.Continue && r.Method != "POST" && r.Method != "PUT" && r.Method != "PATCH" {
		// The end of a stream without a body may be in a later packet than the head. Without this wait, the upstream
		// would get a body of unknown length, or a request whose body is longer than it says.
		switch err := s.advance(); {
		case err == io.EOF:
			r.Length = 0
		case err != nil:
			return err
		}
	}
	s.quic.SetReadDeadline(time.Time{})
	return nil
}

// priority returns the members of a Priority field that have a meaning (RFC 9218, section 4).
func priority(value string) (urgency int8, incremental bool) {
	urgency = 3
	for member := range strings.SplitSeq(value, ",") {
		switch member = httpsyntax.TrimSpace(member); {
		case len(member) == len("u=0") && member[:2] == "u=" && '0' <= member[2] && member[2] <= '7':
			urgency = int8(member[2] - '0')
		case member == "i", member == "i=?1":
			incremental = true
		}
	}
	return urgency, incremental
}

// frame reads the header of the next frame with fields or data. It skips others.
func (s *Stream) frame() (kind, length uint64, err error) {
	for {
		kind, length, err = readFrame(s.in)
		switch {
		case err != nil, kind == headersFrame, kind == dataFrame && length > 0:
			return kind, length, err
		case elsewhere[kind], ofHTTP2[kind]:
			err = s.conn.fail(&Error{http3.ErrCodeFrameUnexpected, Protocol, "a frame that a request cannot have", 0})
		case kind == dataFrame:
			err = s.conn.spend(&s.conn.empty, floodbudget.Empty, EmptyFrames)
		default:
			if err = s.conn.spend(&s.conn.others, floodbudget.Others, OtherFrames); err == nil {
				err = skip(s.in, length)
			}
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// readFields reads and decodes the fields of a HEADERS frame.
func (s *Stream) readFields(length uint64) error {
	tooLong := &Error{http3.ErrCodeExcessiveLoad, HeaderList, "the header list is too long", 431}
	limit := s.conn.limits().Header
	if length > uint64(limit) {
		return tooLong
	}
	block := make([]byte, length)
	if _, err := io.ReadFull(s.in, block); err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	s.fields = s.fields[:0]
	for next := qpack.NewDecoder().Decode(block); ; {
		f, err := next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return s.conn.fail(&Error{http3.ErrCodeQPACKDecompressionFailed, Compression, err.Error(), 0})
		}
		if limit -= len(f.Name) + len(f.Value) + 32; limit < 0 {
			return tooLong
		}
		s.fields = append(s.fields, hpack.HeaderField{Name: f.Name, Value: f.Value})
	}
}

// advance waits for data of the body. At the end of the body it returns io.EOF.
func (s *Stream) advance() error {
	for s.left == 0 {
		if s.failed != nil {
			return s.failed
		}
		kind, length, err := s.frame()
		switch {
		case err == io.EOF && s.declared > s.received:
			err = &Error{http3.ErrCodeMessageError, BodyLength, "the body is shorter than its content-length", 0}
		case err != nil:
		case s.trailed:
			err = s.conn.fail(&Error{http3.ErrCodeFrameUnexpected, Protocol, "a frame follows the trailers", 0})
		case kind == headersFrame:
			err = s.readTrailers(length)
		case length > math.MaxInt64-uint64(s.received), s.declared >= 0 && s.received+int64(length) > s.declared:
			err = &Error{http3.ErrCodeMessageError, BodyLength, "the body is longer than its content-length", 0}
		default:
			s.received += int64(length)
			s.left = length
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // a deadline may be moved
			s.failed = err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Stream) readTrailers(length uint64) error {
	s.trailed = true
	var tooLong *Error
	if err := s.readFields(length); errors.As(err, &tooLong) {
		return &Error{http3.ErrCodeExcessiveLoad, Trailers, "the trailers are too long", 0}
	} else if err != nil {
		return err
	}
	for i := range s.fields {
		if wrong := httphead.CheckTrailer(&s.fields[i]); wrong != "" {
			return &Error{http3.ErrCodeMessageError, Trailers, wrong, 0}
		}
	}
	s.trailers = s.fields
	return nil
}

// ReadInto reads data of the body, as [transport.Conn.ReadInto] does. At the end of the body
// it returns io.EOF.
func (s *Stream) ReadInto(space transport.Space) (int, error) {
	if err := s.advance(); err != nil {
		return 0, s.bodyError(err)
	}
	p := space.Space()
	n, err := s.in.Read(p[:min(uint64(len(p)), s.left)])
	s.left -= uint64(n)
	switch {
	case err == io.EOF && s.left > 0:
		err = io.ErrUnexpectedEOF
	case err == io.EOF: // the next read returns it again
		err = nil
	}
	if err == nil && s.left == 0 && s.received == s.declared {
		// A body that continues must not look complete to the upstream.
		if err := s.advance(); err != io.EOF {
			return 0, s.bodyError(err)
		}
	}
	return n, s.bodyError(err)
}

// bodyError reports an error of a body to the owner, once, and returns it as the proxy knows it.
func (s *Stream) bodyError(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return commonStreamError(err)
	}
	if !s.reported {
		s.reported = true
		s.conn.streamFailed(e)
		s.quic.CancelRead(quic.StreamErrorCode(e.Code))
	}
	return err
}

// Trailers returns the trailers of the body, whose end was read.
func (s *Stream) Trailers() []hpack.HeaderField { return s.trailers }

// refuse ends a stream without a valid head.
func (s *Stream) refuse(err error) {
	defer s.Close()
	var e *Error
	switch {
	case errors.As(err, &e) && e.Reason == BodyLength:
		e = malformed(e.Detail)
	case e != nil:
	case errors.Is(err, os.ErrDeadlineExceeded):
		e = &Error{http3.ErrCodeRequestIncomplete, SlowHead, "the head took too long", 408}
	case err == io.ErrUnexpectedEOF:
		e = &Error{http3.ErrCodeRequestIncomplete, Malformed, "the head is not complete", 400}
	default:
		return // a reset, or the end of the connection
	}
	if s.conn.streamFailed(e); e.Status == 0 {
		return
	}
	h := s.NewHead()
	h.Status(e.Status)
	h.Add("content-length", "0")
	s.quic.SetWriteDeadline(time.Now().Add(refusalTimeout))
	s.SendHead(h, true)
	s.quic.CancelRead(quic.StreamErrorCode(e.Code))
}

// refusalTimeout is how long a client may take to accept the response to a malformed request.
const refusalTimeout = time.Second

// SetReadDeadline sets the deadline of reads in progress and of later ones.
func (s *Stream) SetReadDeadline(t time.Time) error { return s.quic.SetReadDeadline(t) }

// SetWriteDeadline sets the deadline of writes in progress and of later ones.
func (s *Stream) SetWriteDeadline(t time.Time) error { return s.quic.SetWriteDeadline(t) }

// Bind sets the exchange that is cancelled when the client resets the stream, or the connection ends.
func (s *Stream) Bind(user interface{ Cancel() }) {
	s.user = user
	ctx := s.quic.Context()
	s.stop = context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.user != nil && context.Cause(ctx) != quic.ErrStreamClosed { // closed by this side
			s.user.Cancel()
		}
	})
}

// NewHead returns an empty header block. Pass it to SendHead or SendInterim, which release it.
func (s *Stream) NewHead() *httphead.Block { return newHead() }

// SendInterim sends an informational response and releases it. After the final response it does
// nothing. It may be called by the goroutine that reads.
func (s *Stream) SendInterim(h *httphead.Block) error {
	defer release(h)
	if s.headSent.Load() { // a response whose client does not read it may hold writing
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.headSent.Load() { // since then
		return nil
	}
	s.appendHead(h)
	return s.flush()
}

// SendHead sends a header block and releases it: the head of a message, or its trailers, which
// end the stream.
func (s *Stream) SendHead(h *httphead.Block, end bool) error {
	defer release(h)
	s.headSent.Store(true)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.appendHead(h)
	return s.sent(end)
}

func (s *Stream) appendHead(h *httphead.Block) {
	s.out = quicvarint.Append(s.out, headersFrame)
	s.out = quicvarint.Append(s.out, uint64(len(h.Bytes)))
	s.out = append(s.out, h.Bytes...)
}

// Write sends data. With end, it ends the stream after p, which may then be empty. The frames
// are sent when the stream ends, by Flush, or when there are many bytes.
func (s *Stream) Write(p []byte, end bool) (written int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if len(p) > 0 {
		s.out = quicvarint.Append(s.out, dataFrame)
		s.out = quicvarint.Append(s.out, uint64(len(p)))
		if len(s.out)+len(p) <= outputSize {
			s.out = append(s.out, p...)
		} else if err := s.flush(); err != nil {
			return 0, err
		} else if n, err := s.quic.Write(p); err != nil {
			return n, commonStreamError(err)
		}
	}
	return len(p), s.sent(end)
}

// sent sends the output if that is due, and ends the stream with end. writing is held, here and below.
func (s *Stream) sent(end bool) error {
	if !end && len(s.out) < outputSize {
		return nil
	}
	if err := s.flush(); err != nil || !end {
		return err
	}
	s.sentEnded = true
	return s.quic.Close()
}

func (s *Stream) flush() error {
	n, err := s.quic.Write(s.out)
	s.out = s.out[:copy(s.out, s.out[n:])]
	return commonStreamError(err)
}

// Room returns a large number, because quic-go does not expose the real one.
func (s *Stream) Room() (int, error) { return math.MaxInt, nil }

// Flush sends the output.
func (s *Stream) Flush() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.flush()
}

// Close ends the use of the stream. If the response is not complete, the client gets a reset with H3_INTERNAL_ERROR. If
// the request is not, the client is asked to stop sending it.
func (s *Stream) Close() {
	s.stop()
	s.mu.Lock()
	s.user = nil
	s.mu.Unlock()
	var reset *quic.StreamError
	switch {
	case errors.As(context.Cause(s.quic.Context()), &reset) && reset.Remote:
		s.conn.spend(&s.conn.resets, floodbudget.Resets, Resets)
	case s.sentEnded:
		s.conn.earnReset()
	}
	if !s.sentEnded {
		s.quic.CancelWrite(quic.StreamErrorCode(http3.ErrCodeInternalError))
	}
	s.quic.CancelRead(quic.StreamErrorCode(http3.ErrCodeNoError))
	s.quic.ReleaseStreamCredit()
	s.in.Reset(nil)
	inputs.Put(s.in)
	s.conn.end()
}
