package sink

import (
	"io"
	"os"
)

// Std returns what is to stand between a [Queue] and stdout or stderr, which
// are whatever the program was started with.
//
// A pipe is often that of several processes, and only a write of at most 4,096
// bytes stays in one piece there: it is given so many whole lines at a time. A
// line that is longer has a write of its own and may be torn by another process.
// A terminal is given line by line. Anything else is returned as it is.
//
// A program that writes to a standard stream outlives the pipe's reader only
// when it ignores SIGPIPE (signal.Ignore); the write then fails, see
// [NewFallback].
func Std(file *os.File) io.Writer {
	info, err := file.Stat()
	switch {
	case err != nil:
		return file
	case info.Mode()&os.ModeNamedPipe != 0:
		return stream{file, pipeBuf}
	case info.Mode()&os.ModeCharDevice != 0:
		return stream{file, 0}
	}
	return file
}

// pipeBuf is what Linux calls PIPE_BUF. POSIX promises 512 bytes, and some
// systems hold to that; the lines of several processes may tear there.
const pipeBuf = 4096

// A stream writes whole lines, so many bytes at a time at most, and one line at
// least.
type stream struct {
	file   *os.File
	atMost int64
}

// Unwrap returns the file, for who asks what kind it is.
func (s stream) Unwrap() io.Writer { return s.file }

func (s stream) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var wrote int
		wrote, err = s.file.Write(linesWithin(p[n:], s.atMost))
		n += wrote
	}
	return n, err
}
