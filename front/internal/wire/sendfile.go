package wire

import "github.com/weirhq/weir/internal/transport"

// SendsFiles implements proxying.FileClient.
func (w *responder) SendsFiles() bool {
	_, ok := w.conn.Conn.(transport.FileSender)
	return ok && w.body == sizedBody
}

// SendFile implements proxying.FileClient. The buffered bytes, such as the head, are sent in the
// same packet as the first bytes of the file.
func (w *responder) SendFile(fd int, at int64, n int) (sent int, err error) {
	switch {
	case w.err != nil:
		return 0, w.err
	case int64(n) > w.left:
		return 0, errBodyLength
	}
	w.conn.writes.Add(1)
	defer w.conn.writes.Add(1)
	head := len(w.out)
	sent, err = w.conn.Conn.(transport.FileSender).SendFile(w.out, fd, at, n)
	if err != transport.ErrFile {
		w.err = err
	}
	if sent < head {
		if w.err == nil {
			w.writeRest(w.out[sent:], true)
		}
		w.giveBack()
		return 0, w.err
	}
	w.giveBack()
	w.left -= int64(sent - head)
	return sent - head, err
}
