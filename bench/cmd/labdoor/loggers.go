package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/weirhq/weir/bench/log"
	"github.com/weirhq/weir/log/sink"
)

// A logger is one that is ready to log.
type logger struct {
	three  log.Three
	silent bool          // there is nothing to call
	close  func() error  // returns when every line is written, or given up
	counts func() counts // after close; nil when there is one line for each call and none is dropped but by the writer
	failed *failures     // of the writer, where the logger does not count them
}

// counts are a logger's own.
type counts struct {
	emitted int64 // with those that the logger adds of itself
	dropped int64
}

// loggers open a logger that writes to stdout.
var loggers = map[string]func(stdout io.Writer) logger{
	"none":        func(io.Writer) logger { return logger{silent: true, close: nothing} },
	"ons-v1":      direct(log.ByLogGoV1),
	"ons-v2":      direct(log.ByLogGoV2),
	"zerolog":     direct(log.ByZerolog),
	"zap":         direct(func(w io.Writer) log.Three { return log.ByZap(zapcore.Lock(zapcore.AddSync(w))) }), // as its documentation asks for
	"slog":        direct(log.BySlog),
	"weir":        openDirect,
	"weir-queued": openQueue,
}

func loggerNames() string {
	return strings.Join(slices.Sorted(maps.Keys(loggers)), ", ")
}

func nothing() error { return nil }

// direct is a logger that writes each event by itself, in the goroutine that logs.
func direct(by func(io.Writer) log.Three) func(io.Writer) logger {
	return func(stdout io.Writer) logger {
		failed := &failures{Writer: stdout}
		return logger{three: by(failed), close: nothing, failed: failed}
	}
}

// failures counts the writes that fail, which loggers do not tell.
type failures struct {
	io.Writer
	n atomic.Int64
}

func (f *failures) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err != nil {
		f.n.Add(1)
	}
	return n, err
}

// openDirect writes each event by itself, too.
func openDirect(stdout io.Writer) logger {
	s := sink.NewDirect(stdout)
	return logger{three: log.ByWeir(s), close: s.Close, counts: countsOf(s.Stats)}
}

// flushTime is how long the queue may take to write what it holds when the service ends.
const flushTime = 5 * time.Second

// openQueue has the lines wait in memory for a goroutine that writes them: 8 MiB, of which events that only inform have
// three quarters, and what does not fit is dropped.
func openQueue(stdout io.Writer) logger {
	s := sink.NewQueue(stdout, sink.QueueOptions{})
	return logger{three: log.ByWeir(s), counts: countsOf(s.Stats), close: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		return s.Close(ctx)
	}}
}

func countsOf(stats func() sink.Stats) func() counts {
	return func() counts {
		s := stats()
		return counts{emitted: int64(s.Emitted), dropped: int64(s.Lost())}
	}
}
