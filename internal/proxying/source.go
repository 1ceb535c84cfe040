package proxying

import (
	"io"
	"strconv"

	"github.com/weirhq/weir/internal/proxying/internal/response"
)

// RespondFrom sends a response with a status, fields and a body of the given length from
// body instead of one from an upstream, and adds Content-Length. It reads as the client
// takes the bytes, into the exchange's buffer, which it holds only while it has bytes. A
// failure ends the exchange as a failure of [Proxy.Serve]: it sets x.Err, and x.Cut. An
// *Error of body is passed on unchanged.
func (x *Exchange) RespondFrom(status int, fields []Field, length int64, body io.Reader) {
	x.collectOwnFields(fields)
	x.fields = append(x.fields, Field{"Content-Length", strconv.FormatInt(length, 10)})
	x.Status, x.Began = status, true
	if err := x.Client.Head(status, x.fields, length); err != nil {
		x.fail(by(ClientGone, "sending the response", err), nil)
	} else if x.Method != "HEAD" {
		if err := x.sendFrom(length, body); err != nil {
			x.fail(err, nil)
		}
	}
}

// sendFrom sends the body of RespondFrom.
func (x *Exchange) sendFrom(length int64, body io.Reader) error {
	a := &x.response
	defer a.GiveBack()
	credit := response.BufferSize // safe to write without asking the client
	for length > 0 {
		if credit < response.LeastRoom && int64(credit) < length {
			a.GiveBack()
			room, err := x.Client.Room()
			if err != nil {
				return by(ClientGone, "sending the response", err)
			}
			credit = min(max(room, response.LeastRoom), response.BufferSize)
		}
		a.AtMost = int(min(int64(credit), length))
		n, err := body.Read(a.Space())
		if n == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return by(Truncated, "reading the body of the response", err)
		}
		a.Add(n)
		p := a.TakeAll() // Client may give the buffer back when it needs the bytes no more
		credit -= n
		length -= int64(n)
		n, err = x.Client.Write(p)
		x.BodySent += int64(n)
		if err != nil {
			return by(ClientGone, "sending the response", err)
		}
	}
	return nil
}
