package files

import "sync"

// Descriptor returns the file descriptor of the file.
func (h handle) Descriptor() int { return h.fd }

// cachedStep is how much of a file Linux reads ahead by default.
const cachedStep = 128 << 10

// Cached reports whether a part of the file is in the page cache, without waiting. It looks at
// the last byte and at one byte of each cachedStep: Linux reads a file in such steps, and forgets
// it from the beginning, so that the pages between two of these bytes are hardly ever missing.
// A look at all of them would be a copy of them, because only their owner may call cachestat(2)
// and mincore(2) for files that he may not write.
func (h handle) Cached(at int64, n int) bool {
	var b [1]byte
	last := at + int64(n) - 1
	for ; at < last; at += cachedStep {
		if !h.inCache(b[:], at) {
			return false
		}
	}
	return h.inCache(b[:], last)
}

func (h handle) inCache(b []byte, at int64) bool {
	n, wait, err := h.ReadAt(b, at, false)
	return n > 0 && !wait && err == nil
}

// pages are buffers for bytes that are read only to have them in the page cache.
var pages = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Fetch reads a part of the file into the page cache, and returns its length: it is shorter at the
// end of the file, and after an error. It waits for the disk.
func (h handle) Fetch(at int64, n int) (fetched int) {
	b := pages.Get().(*[32 << 10]byte)
	defer pages.Put(b)
	for fetched < n {
		m, _, err := h.ReadAt(b[:min(len(b), n-fetched)], at+int64(fetched), true)
		if err != nil || m == 0 {
			break
		}
		fetched += m
	}
	return fetched
}
