package service

import (
	"os"
	"sync"
)

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
