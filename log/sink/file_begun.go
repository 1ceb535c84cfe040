package sink

import "bytes"

// A begun is the beginning of a line that was written without its end. Who
// turns to another file or stream begins with it there, so that the line is
// whole in one of them.
type begun []byte

// after returns what is begun when p was written, too. It reuses b's memory.
func (b begun) after(p []byte) begun {
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		return append(b[:0], p[end+1:]...)
	}
	return append(b, p...)
}
