package service

import (
	"bytes"
	"os"
	"sync"
	"time"
)

// A Count is the amount of output of a program.
type Count struct {
	Bytes  int64     // read so far, or written to the file
	Unread int64     // not read yet, as reported by the kernel
	Last   time.Time // when the last of Bytes arrived; zero without any
}

func (c Count) add(other Count) Count {
	c.Bytes += other.Bytes
	c.Unread += other.Unread
	if other.Last.After(c.Last) {
		c.Last = other.Last
	}
	return c
}

var newline = []byte{'\n'}

// countLines counts the ends of lines.
func countLines(text []byte) int64 { return int64(bytes.Count(text, newline)) }

// A lineCount counts the lines of a growing file.
type lineCount struct {
	mu     sync.Mutex
	read   int64 // bytes so far
	lines  int64 // in these bytes
	buffer []byte
}

// readOn counts the lines in the new part of the file and returns the total. It
// ignores parts that cannot be read.
func (c *lineCount) readOn(from *os.File) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buffer == nil {
		c.buffer = make([]byte, 256<<10)
	}
	for {
		n, err := from.ReadAt(c.buffer, c.read)
		c.lines += countLines(c.buffer[:n])
		c.read += int64(n)
		if err != nil || n == 0 { // err is usually io.EOF
			return c.lines
		}
	}
}
