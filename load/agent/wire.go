package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load"
)

// silence is how long both sides wait for a message of the other one.
const silence = 10 * time.Second

const (
	aliveEvery = time.Second
	tryFor     = 3 * time.Second // for the response to one request
	attempts   = 3
)

// The names of headers. A request has its operation, and a chunk its place in a file.
const (
	headerOp     = "Weir-Op"
	headerRun    = "Weir-Run"
	headerAgent  = "Weir-Agent"
	headerName   = "Weir-Name"   // of the file
	headerPart   = "Weir-Part"   // the number of the file or of the report
	headerOffset = "Weir-Offset" // of a chunk
	headerLast   = "Weir-Last"   // is set if a chunk is the last one
	headerError  = "Weir-Error"  // is set if the data of a response is an error
)

// The operations of an agent.
const (
	opClaim = "claim" // the agent works for this run
	opClock = "clock" // the response is the time
	opFile  = "file"  // a chunk of a file of the plan
	opPlan  = "plan"  // a chunk of the plan; with the last one, the plan is checked
	opStart = "start" // the time of the start
	opStop  = "stop"
	opLeave = "leave" // the claim ends
)

// The operations of a coordinator.
const (
	opReport = "report" // a chunk of a report, each second
	opResult = "result" // a chunk of the result
	opFail   = "fail"   // the reason why there is no result
)

// A report is the state of a share that is under way.
type report struct {
	Progress load.Progress `json:"progress"`
	Result   *load.Result  `json:"result"` // a snapshot; its Series continues that of the last report
}

// A link is an agent's connection to the coordinators.
type link struct {
	conn    *nats.Conn
	subject string // as in Options
	agent   string // the id of the agent
}

// An offer is the response of an agent to a call.
type offer struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels"`
	Version string            `json:"version"`
	Busy    bool              `json:"busy"`
}

// A remoteError is an error of the other side.
type remoteError struct{ text string }

func (e *remoteError) Error() string { return e.text }

// request sends a request until there is a response, at most so many times.
func request(ctx context.Context, c *nats.Conn, msg *nats.Msg, times int) ([]byte, error) {
	var err error
	for range times {
		var response *nats.Msg
		response, err = requestOnce(ctx, c, msg)
		if err == nil {
			if response.Header.Get(headerError) != "" {
				return nil, &remoteError{string(response.Data)}
			}
			return response.Data, nil
		}
		if !errors.Is(err, context.DeadlineExceeded) { // a refusal comes at once
			select {
			case <-time.After(tryFor / 10):
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) {
		return nil, errors.New("it does not respond")
	}
	return nil, err
}

func requestOnce(ctx context.Context, c *nats.Conn, msg *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	return c.RequestMsgWithContext(ctx, msg)
}

// mostChunk limits the data of a message. The default limit of a server is 1 MiB.
const mostChunk = 256 << 10

// chunkSize returns the size of a chunk for a server.
func chunkSize(c *nats.Conn) int64 {
	const headers = 1 << 10
	if most := c.MaxPayload(); most > 2*headers {
		return min(mostChunk, most-headers)
	}
	return mostChunk
}

// send sends size bytes in requests, each of which must fit into the server's limit, and
// returns the response to the last one. Each request is sent so many times at most.
func send(
	ctx context.Context, c *nats.Conn, subject string, header nats.Header, in io.ReaderAt, size int64, times int,
) ([]byte, error) {
	for offset := int64(0); ; {
		data := make([]byte, min(chunkSize(c), size-offset))
		if n, err := in.ReadAt(data, offset); n < len(data) {
			return nil, fmt.Errorf("reading at byte %d: %w", offset+int64(n), err)
		}
		msg := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{}}
		for name, values := range header {
			msg.Header[name] = values
		}
		msg.Header.Set(headerOffset, strconv.FormatInt(offset, 10))
		offset += int64(len(data))
		if offset == size {
			msg.Header.Set(headerLast, "1")
		}
		response, err := request(ctx, c, msg, times)
		if err != nil || offset == size {
			return response, err
		}
	}
}

// A receiver writes chunks in their order. A chunk that arrives again is ignored.
type receiver struct {
	out  io.Writer
	size int64
}

// receive writes a chunk, and reports whether it was the last one.
func (r *receiver) receive(msg *nats.Msg) (last bool, err error) {
	offset, err := strconv.ParseInt(msg.Header.Get(headerOffset), 10, 64)
	if err != nil || offset < 0 || offset > r.size {
		return false, fmt.Errorf("a chunk at %q follows %d bytes", msg.Header.Get(headerOffset), r.size)
	}
	if offset == r.size {
		if _, err := r.out.Write(msg.Data); err != nil {
			return false, err
		}
		r.size += int64(len(msg.Data))
	}
	return msg.Header.Get(headerLast) != "", nil
}

// respond responds to a request.
func respond(msg *nats.Msg, data []byte, err error) {
	response := &nats.Msg{Data: data}
	if err != nil {
		response = &nats.Msg{Header: nats.Header{headerError: {"1"}}, Data: []byte(err.Error())}
	}
	msg.RespondMsg(response) // the other side asks again if it does not arrive
}
