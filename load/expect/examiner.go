package expect

import (
	"bytes"
	"fmt"
	"iter"
	"net/url"
	"slices"

	"github.com/weirhq/weir/load/internal/grpcstatus"
)

// A Header has the fields of a response.
type Header interface {
	// Values returns the values of a field. The name may have any case. They are valid until Values returns.
	Values(name string) iter.Seq[[]byte]
}

// An Examiner compares the responses of one connection with expectations, one response after the other. The zero
// Examiner expects nothing. Goroutines must not share one.
type Examiner struct {
	expectations []Expectation
	longest      int // bytes of a text to search for
	keep         bool
	calls        bool // a status of gRPC is expected

	mistakes []string // of the current response, one for each expectation; "" if it is met so far
	found    []bool   // the texts that were found
	size     int64
	tail     []byte // the last bytes of the body, shorter than the longest text
	body     []byte // if it is needed as JSON
	called   call
}

// A call is the result of a call of gRPC.
type call struct{ status, message string }

// take takes the result from the trailers, or from the header of a response without a body.
func (c *call) take(h Header) {
	for value := range h.Values("Grpc-Status") {
		c.status = string(value)
	}
	for value := range h.Values("Grpc-Message") {
		c.message = string(value)
		if text, err := url.PathUnescape(c.message); err == nil {
			c.message = text
		}
	}
}

func (c call) String() string {
	switch {
	case c.status == "":
		return "there is no status of gRPC"
	case c.message == "":
		return "the status of gRPC is " + grpcstatus.Name(c.status)
	}
	return "the status of gRPC is " + grpcstatus.Name(c.status) + ": " + clip(c.message)
}

// mostJSON limits a body that is read as JSON.
const mostJSON = 1 << 20

// mostKept is the largest buffer that an Examiner keeps from response to response.
const mostKept = 64 << 10

// NewExaminer returns an Examiner.
func NewExaminer(expectations []Expectation) *Examiner {
	x := &Examiner{expectations: expectations, mistakes: make([]string, len(expectations)),
		found: make([]bool, len(expectations))}
	for _, e := range expectations {
		switch e.what {
		case ofBody:
			x.longest = max(x.longest, len(e.value))
		case ofJSON:
			x.keep = true
		case ofGRPC:
			x.calls = true
		}
	}
	return x
}

// Begin begins a response.
func (x *Examiner) Begin(status int, h Header) {
	x.size, x.tail = 0, x.tail[:0]
	if x.body = x.body[:0]; cap(x.body) > mostKept {
		x.body = nil
	}
	clear(x.found)
	x.called = call{}
	x.Trailer(h)
	for i := range x.expectations {
		e := &x.expectations[i]
		x.mistakes[i] = ""
		switch {
		case e.what == ofStatus && !e.meetsStatus(status):
			x.mistakes[i] = StatusFailure(status)
		case e.what == ofHeader:
			x.mistakes[i] = e.judgeHeader(h)
		}
	}
}

// Trailer takes the fields after the body.
func (x *Examiner) Trailer(h Header) {
	if x.calls {
		x.called.take(h)
	}
}

// Write implements io.Writer. It takes a part of the body.
func (x *Examiner) Write(b []byte) (int, error) {
	x.size += int64(len(b))
	if x.keep && len(x.body) <= mostJSON {
		x.body = append(x.body, b[:min(len(b), mostJSON+1-len(x.body))]...)
	}
	if x.longest > 0 {
		x.search(b)
	}
	return len(b), nil
}

// search looks for the texts in a part of the body, and across its beginning.
func (x *Examiner) search(b []byte) {
	across := x.longest - 1
	seam := append(x.tail, b[:min(len(b), across)]...)
	for i := range x.expectations {
		if e := &x.expectations[i]; e.what == ofBody && !x.found[i] {
			x.found[i] = bytes.Contains(b, e.value) || len(x.tail) > 0 && bytes.Contains(seam, e.value)
		}
	}
	if len(b) >= across {
		seam = append(seam[:0], b[len(b)-across:]...)
	}
	x.tail = append(seam[:0], seam[max(0, len(seam)-across):]...)
}

// End ends the response. It returns the index of the first expectation that was not met, and the response's mistake; -1
// and "" if the response is right.
func (x *Examiner) End() (wrong int, mistake string) {
	var body any
	var bad error
	if x.keep {
		body, bad = x.json()
	}
	for i := range x.expectations {
		e := &x.expectations[i]
		switch {
		case e.what == ofJSON && bad != nil:
			x.mistakes[i] = bad.Error()
		case e.what == ofJSON:
			x.mistakes[i] = e.judgeJSON(body)
		case e.what == ofGRPC && !slices.Contains(e.grpc, x.called.status):
			x.mistakes[i] = x.called.String()
		case e.what == ofSize && (x.size < e.least || x.size > e.most):
			x.mistakes[i] = fmt.Sprintf("the body has %d bytes", x.size)
		case e.what == ofBody && x.found[i] == (e.how == lacks):
			x.mistakes[i] = e.Failure()
		}
	}
	wrong = slices.IndexFunc(x.mistakes, func(m string) bool { return m != "" })
	if wrong < 0 {
		return -1, ""
	}
	return wrong, x.mistakes[wrong]
}

// json returns the decoded body.
func (x *Examiner) json() (any, error) {
	if len(x.body) > mostJSON {
		return nil, fmt.Errorf("the body has more than %d bytes, and is not read as JSON", mostJSON)
	}
	value, err := decode(x.body)
	if err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	return value, nil
}
