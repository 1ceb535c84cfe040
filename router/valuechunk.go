package router

import "net/http"

// A valueChunk hands out memory for the values of many requests from one
// allocation. No part of it is handed out twice: who reads the values of a
// request when its handler has long returned finds them as they were. The zero
// valueChunk is ready; one goroutine at a time.
//
// Whoever keeps a request keeps its chunk, and with it the values of others,
// which are parts of the lines that their requests began with. Long lines stay
// out of chunks, so that this is 16 KiB at most.
type valueChunk struct {
	strings *[chunkLen]string
	used    int
}

const (
	// chunkLen strings are 512 bytes, the most that an allocation holds
	// without a header. Between 16 and 256 of them no difference was to be
	// seen.
	chunkLen = 32
	// maxFromChunk leaves no more than a quarter of a chunk unused.
	maxFromChunk = chunkLen / 4
	// maxLine is how much, by keptBy, a request may keep alive in a chunk.
	maxLine = 512
)

// take returns n empty strings for req.
func (c *valueChunk) take(n int, req *http.Request) []string {
	if n == 0 {
		return nil
	}
	if n > maxFromChunk || keptBy(req) > maxLine {
		return make([]string, n)
	}
	if c.strings == nil || n > chunkLen-c.used {
		c.strings, c.used = new([chunkLen]string), 0
	}
	from := c.used
	c.used += n
	return c.strings[from:c.used:c.used] // whoever appends to it copies it
}

// keptBy returns at least how many bytes a part of req's path keeps alive.
// Method and RequestURI are what net/http has read as one string; a request
// that it did not read may have its URL alone.
func keptBy(req *http.Request) int {
	return len(req.Method) + len(req.RequestURI) + len(req.URL.Path) + len(req.URL.RawQuery)
}
