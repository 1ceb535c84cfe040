// Package coding compresses the bodies of responses with the content codings of HTTP (RFC 9110,
// section 8.4.1): zstd, br and gzip.
//
// [Encoders] limits the memory of all encoders that are in use, and reuses the others.
package coding

import (
	"sync"
	"sync/atomic"
)

// A Coding is a content coding by its name in Accept-Encoding.
type Coding string

// The codings.
const (
	Zstd   Coding = "zstd"
	Brotli Coding = "br"
	Gzip   Coding = "gzip"
)

// MaxLevel is the highest level. Higher ones of the libraries take several times the CPU time
// and, for br, 35 MiB.
const MaxLevel = 6

// Encoders provides encoders. The memory of encoders in use is limited. Goroutines may share
// it.
type Encoders struct {
	limit int64 // in bytes
	inUse atomic.Int64

	mu      sync.Mutex // guards sources
	sources map[sourceKey]*Source
}

type sourceKey struct {
	coding Coding
	level  int
}

// NewEncoders returns Encoders with a limit in bytes.
func NewEncoders(limit int64) *Encoders {
	return &Encoders{limit: limit, sources: map[sourceKey]*Source{}}
}

// InUse returns the memory of the encoders in use, in bytes.
func (s *Encoders) InUse() int64 { return s.inUse.Load() }

// Source returns the source of encoders of a coding and a level from 1 to MaxLevel.
func (s *Encoders) Source(c Coding, level int) *Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sourceKey{c, level}
	if s.sources[key] == nil {
		s.sources[key] = &Source{Coding: c, Quick: quick(c), level: level, size: size(c, level), all: s}
	}
	return s.sources[key]
}

// A Source provides encoders of one coding and level. Goroutines may share it.
type Source struct {
	Coding Coding
	Quick  int // the number of bytes whose compression takes little longer than a switch to another thread
	level  int
	size   int64 // the memory of an encoder
	all    *Encoders
	unused sync.Pool // of *engine
}

// Get returns an encoder, or nil if the limit of memory is reached. The caller must return it
// with [Source.Put].
func (s *Source) Get() *Encoder {
	if s.all.inUse.Add(s.size) > s.all.limit {
		s.all.inUse.Add(-s.size)
		return nil
	}
	return &Encoder{source: s}
}

// Put returns an encoder. reuse is false for one that has failed.
func (s *Source) Put(e *Encoder, reuse bool) {
	s.all.inUse.Add(-s.size)
	if e.engine == nil || !reuse {
		return
	}
	if cap(e.Out) <= maxOut {
		e.engine.out = e.Out[:0]
	}
	e.engine.Reset(nil)
	s.unused.Put(e.engine)
	e.engine, e.Out = nil, nil
}

// maxOut is the largest Out that is kept with an unused encoder.
const maxOut = 128 << 10

// quick returns Source.Quick. A switch to another thread and back costs as much time as the compression of 8 KiB at level 3.
// gzip and zstd compress 16 KiB in about 0.2 ms at that level, and in more at a higher one. br takes two to four times as
// long for each byte.
func quick(c Coding) int {
	if c == Brotli {
		return 8 << 10
	}
	return 16 << 10
}

// size returns the memory of an encoder in bytes, rounded up.
func size(c Coding, level int) int64 {
	const kib = 1 << 10
	switch {
	case c == Gzip:
		return 1280 * kib
	case c == Brotli && level == 1:
		return 768 * kib
	case c == Brotli && level <= 3:
		return 1536 * kib
	case c == Brotli && level <= 5:
		return 3072 * kib
	case c == Brotli:
		return 4096 * kib
	case c == Zstd && level <= 2:
		return 1024 * kib
	case c == Zstd && level <= 5:
		return 2048 * kib
	}
	return 5120 * kib
}
