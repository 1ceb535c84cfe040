package sink

import (
	"io"
	"os"
)

// Std returns a writer to put between a [Queue] and stdout or stderr, whatever
// kind of file they are.
//
// A pipe is often shared by several processes, and only writes of at most 4,096
// bytes are atomic there. Std splits writes to a pipe at line ends into writes
// of at most 4,096 bytes. A longer line has its own write, and another process
// may tear it. A terminal gets one line per write. For any other file, Std
// returns the file.
//
// A program that writes to a standard stream survives the end of the pipe's
// reader only if it ignores SIGPIPE (signal.Ignore). The write then fails; see
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

// pipeBuf is PIPE_BUF of Linux. POSIX guarantees 512 bytes, and some systems
// have no more; there, the lines of several processes may tear.
const pipeBuf = 4096

// A stream writes whole lines: at most atMost bytes at a time, and at least one
// line.
type stream struct {
	file   *os.File
	atMost int64
}

// Unwrap returns the file, so that callers can check its type.
func (s stream) Unwrap() io.Writer { return s.file }

func (s stream) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var wrote int
		wrote, err = s.file.Write(linesWithin(p[n:], s.atMost))
		n += wrote
	}
	return n, err
}
