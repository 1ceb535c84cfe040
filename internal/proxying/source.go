package proxying

import (
	"io"
	"strconv"

	"github.com/weirhq/weir/internal/proxying/internal/response"
	"github.com/weirhq/weir/internal/transport"
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

// A FileClient is a Client that may be able to send bytes of a file by itself.
type FileClient interface {
	Client

	// SendsFiles reports whether SendFile may be called for the present response.
	SendsFiles() bool

	// SendFile sends n bytes of the open file fd from the offset at, or fewer if the client
	// does not take more now. If it takes none, SendFile waits for it, and returns 0. The
	// error is [transport.ErrFile] if the file cannot be sent in this way.
	SendFile(fd int, at int64, n int) (sent int, err error)
}

// A FileBody is a body with ranges of files.
type FileBody interface {
	io.Reader

	// Range returns a range of a file that is next in the body. Its bytes can be read
	// without waiting for the disk. n is 0 if Read is to be called instead.
	Range() (fd int, at int64, n int)

	// Skip removes n bytes from the beginning of the range.
	Skip(n int)
}

// sendFrom sends the body of RespondFrom.
func (x *Exchange) sendFrom(length int64, body io.Reader) error {
	a := &x.response
	defer a.GiveBack()
	client, file := x.fileSender(body)
	credit := response.BufferSize // safe to write without asking the client
	for length > 0 {
		if file != nil {
			n, err := x.sendFile(client, file)
			length -= n
			switch {
			case err == transport.ErrFile:
				file = nil
			case err != nil:
				return by(ClientGone, "sending the response", err)
			case length == 0:
				return nil
			}
		}
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

// fileSender returns the Client and the body if the client can send files and the body has some,
// or nil.
func (x *Exchange) fileSender(body io.Reader) (FileClient, FileBody) {
	client, ok := x.Client.(FileClient)
	if !ok || !client.SendsFiles() {
		return nil, nil
	}
	file, _ := body.(FileBody)
	return client, file
}

// sendFile sends the ranges of files that are next in the body, up to one that has to be read.
func (x *Exchange) sendFile(client FileClient, body FileBody) (sent int64, err error) {
	for {
		fd, at, n := body.Range()
		if n == 0 {
			return sent, nil
		}
		n, err = client.SendFile(fd, at, n)
		body.Skip(n)
		sent += int64(n)
		x.BodySent += int64(n)
		if err != nil {
			return sent, err
		}
	}
}
