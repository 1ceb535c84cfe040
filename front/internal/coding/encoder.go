package coding

import (
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An Encoder compresses one body. It does no input or output: the caller takes the compressed
// bytes from Out and empties it.
type Encoder struct {
	Out    []byte
	source *Source
	engine *engine // nil before the first use
}

// An engine is the reusable part of an Encoder.
type engine struct {
	stream
	out []byte // empty, for Encoder.Out
}

// A stream is an encoder of a library, which writes to an Encoder.
type stream interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// start returns the engine. It is taken at the first use, so that it is the one that was used
// last: its tables may still be in the caches of the processor.
func (e *Encoder) start() *engine {
	if e.engine == nil {
		e.engine, _ = e.source.unused.Get().(*engine)
		if e.engine == nil {
			e.engine = &engine{stream: newStream(e.source.Coding, e.source.level)}
		}
		e.engine.Reset((*output)(e))
		e.Out, e.engine.out = e.engine.out, nil
	}
	return e.engine
}

// Write compresses a part of the body. The compressed bytes may be appended to Out later.
func (e *Encoder) Write(p []byte) error {
	_, err := e.start().Write(p)
	return err
}

// Flush appends all bytes to Out from which a decoder can restore the parts written so far.
// Each call makes the body longer by a few bytes.
func (e *Encoder) Flush() error { return e.start().Flush() }

// Close appends the end of the body to Out.
func (e *Encoder) Close() error { return e.start().Close() }

// output is an Encoder as the destination of its stream.
type output Encoder

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.Out = append(o.Out, p...)
	return len(p), nil
}

// windowBits is the base 2 logarithm of the window of br and zstd: how far back a repetition is
// found. The window of gzip has 32 KiB. A decoder needs as much memory.
const windowBits = 17

// newStream returns a stream for a coding.
func newStream(c Coding, level int) stream {
	switch c {
	case Zstd:
		w, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstdLevel(level)),
			zstd.WithEncoderConcurrency(1), // no goroutines
			zstd.WithWindowSize(1<<windowBits),
			zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false), // TCP and the length of chunks already detect errors
			zstd.WithZeroFrames(true))  // an empty body is a frame too
		if err != nil {
			panic(err) // an invalid option
		}
		return w
	case Brotli:
		return brotli.NewWriterOptions(nil, brotli.WriterOptions{Quality: level, LGWin: windowBits})
	default:
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			panic(err) // an invalid level
		}
		return w
	}
}

// zstdLevel returns the library's level for one of 1 to [MaxLevel]. It has three for them.
func zstdLevel(level int) zstd.EncoderLevel { return zstd.EncoderLevelFromZstd(level) }
