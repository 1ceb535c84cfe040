package sink

import "bytes"

// A partialLine is the beginning of a line that was written without its end.
// When the rest goes to another file or stream, the beginning is written there
// too, so that the line is whole in one of them.
type partialLine []byte

// after returns the partial line that is left when p has been written after l.
// It reuses the memory of l.
func (l partialLine) after(p []byte) partialLine {
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		return append(l[:0], p[end+1:]...)
	}
	return append(l, p...)
}

// firstLine returns the first line of p, or p if it has no newline.
func firstLine(p []byte) []byte {
	if end := bytes.IndexByte(p, '\n'); end >= 0 {
		return p[:end+1]
	}
	return p
}

// linesWithin returns the first lines of p that fit into the given number of
// bytes, and at least the first line.
func linesWithin(p []byte, bytesLeft int64) []byte {
	if int64(len(p)) <= bytesLeft {
		return p
	}
	if end := bytes.LastIndexByte(p[:max(bytesLeft, 0)], '\n'); end >= 0 {
		return p[:end+1]
	}
	return firstLine(p)
}
