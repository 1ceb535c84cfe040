package transport

import (
	"cmp"

	"golang.org/x/sys/unix"
)

// sentByFile is how many bytes sendfile(2) sends in the time that a write of one byte takes: it
// copies none. A turn of a coroutine is limited because of its time.
const sentByFile = 4

// SendFile implements FileSender.
func (c *LoopConn) SendFile(p []byte, fd int, at int64, n int) (sent int, err error) {
	c.loop.share()
	if err := c.writeError(); err != nil {
		return 0, err
	}
	if c.mayWrite {
		sent, err = sendFile(int(c.fd), p, fd, at, n)
		c.loop.spend(sent / sentByFile)
		if c.mayWrite = err != unix.EAGAIN; c.mayWrite || sent > 0 {
			return fileResult(sent, err)
		}
	}
	if len(p) > 0 {
		return 0, nil
	}
	c.waitToWrite()
	return 0, c.writeError()
}

// A fileWriting holds the arguments and results of a SendFile.
type fileWriting struct {
	try     func(fd uintptr) bool // the method once; kept because a closure for each call is an allocation
	head    []byte
	file    int
	at      int64
	n       int
	waiting bool
	sent    int
	err     error
}

func (w *fileWriting) once(fd uintptr) (done bool) {
	if w.waiting { // and now the kernel takes bytes
		return true
	}
	w.sent, w.err = sendFile(int(fd), w.head, w.file, w.at, w.n)
	w.waiting = w.sent == 0 && w.err == unix.EAGAIN && len(w.head) == 0
	return !w.waiting
}

// SendFile implements FileSender.
func (c *NetConn) SendFile(p []byte, fd int, at int64, n int) (sent int, err error) {
	w := &c.file
	if w.try == nil {
		w.try = w.once
	}
	w.head, w.file, w.at, w.n, w.waiting = p, fd, at, n, false
	err = c.raw.Write(w.try)
	w.head = nil
	if err != nil {
		return 0, err
	}
	return fileResult(w.sent, w.err)
}

// sendFile sends p and then n bytes of a file, as much as the socket takes without waiting. The
// error is EAGAIN if that was not all, also if sent is not 0.
func sendFile(socket int, p []byte, fd int, at int64, n int) (sent int, err error) {
	if len(p) > 0 {
		if sent, err = sendRaw(socket, p, unix.MSG_MORE); err != nil || sent < len(p) {
			return sent, cmp.Or(err, error(unix.EAGAIN))
		}
	}
	for {
		// Outside of RawSyscall, because it waits if the page cache has lost a page.
		m, err := unix.Sendfile(socket, fd, &at, n)
		switch {
		case err == unix.EINTR:
		case err == nil && m == 0, err == unix.EIO, err == unix.EINVAL, err == unix.ENOSYS:
			return sent, ErrFile
		default:
			return sent + max(m, 0), err
		}
	}
}

// fileResult converts the result of sendFile into that of SendFile.
func fileResult(sent int, err error) (int, error) {
	if err == unix.EAGAIN {
		err = nil
	}
	return sent, err
}
