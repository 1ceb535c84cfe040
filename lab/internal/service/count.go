package service

import (
	"bytes"
	"os"
	"sync"
	"time"
)

// A Count is how much a program has written.
type Count struct {
	Bytes  int64     // taken, or in the file
	Unread int64     // that wait for their reader, as far as the kernel says
	Last   time.Time // when the last of Bytes came; zero when none did
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

// A lineCount counts the lines of a file that grows.
type lineCount struct {
	mu     sync.Mutex
	read   int64 // bytes, so far
	lines  int64 // in them
	buffer []byte
}

// readOn counts what was not read yet, and returns how many lines there are.
// What cannot be read does not count.
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
		if err != nil || n == 0 { // err is io.EOF as a rule
			return c.lines
		}
	}
}
