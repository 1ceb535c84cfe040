package proxying_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/transport"
)

// A fileClient is a client that takes atMost bytes of a file at once. Its files are only descriptors.
type fileClient struct {
	sink
	none   bool // it sends no files
	atMost int
	fails  error // of the second call
	sent   []int // lengths, by call
	read   int   // bytes that were written
}

func (c *fileClient) SendsFiles() bool { return !c.none }

func (c *fileClient) SendFile(fd int, at int64, n int) (sent int, err error) {
	if len(c.sent) == 1 {
		err = c.fails
	}
	if err == nil {
		sent = min(n, c.atMost)
	}
	c.sent = append(c.sent, sent)
	return sent, err
}

func (c *fileClient) Write(p []byte) (int, error) {
	c.read += len(p)
	return len(p), nil
}

// A fileBody is a text and 1,000 bytes of a file.
type fileBody struct {
	text *strings.Reader
	left int
}

func (b *fileBody) Range() (fd int, at int64, n int) {
	if b.text.Len() > 0 {
		return 0, 0, 0
	}
	return 7, int64(1000 - b.left), b.left
}

func (b *fileBody) Skip(n int) { b.left -= n }

func (b *fileBody) Read(p []byte) (int, error) {
	if b.text.Len() > 0 {
		return b.text.Read(p)
	}
	n := min(len(p), b.left)
	b.left -= n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestRespondFromSendsFiles responds with a text and a file to clients that send files, or fail to.
func TestRespondFromSendsFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client     fileClient
		sent, read int
		kind       proxying.Kind // "" for success
	}{
		"a client that sends files":      {fileClient{atMost: 300}, 1000, 4, ""},
		"a client that does not":         {fileClient{none: true}, 0, 1004, ""},
		"a file that cannot be sent":     {fileClient{atMost: 300, fails: transport.ErrFile}, 300, 704, ""},
		"a client that has disconnected": {fileClient{atMost: 300, fails: net.ErrClosed}, 300, 4, proxying.ClientGone},
	} {
		t.Run(name, func(t *testing.T) {
			client := &c.client
			x := &proxying.Exchange{Method: "GET", Client: client}
			x.RespondFrom(200, nil, 1004, &fileBody{strings.NewReader("text"), 1000})
			sent := 0
			for _, n := range client.sent {
				sent += n
			}
			o := outcomeOf(x)
			if sent != c.sent || client.read != c.read || o.bodySent != int64(sent+client.read) || o.kind != c.kind {
				t.Errorf("%d bytes sent, %d read, %d in the event, %v", sent, client.read, o.bodySent, o.err)
			}
		})
	}
}
