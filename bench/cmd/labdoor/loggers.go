package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	phuslu "github.com/phuslu/log"
	"go.uber.org/zap/zapcore"

	"github.com/weirhq/weir/bench/log"
	"github.com/weirhq/weir/log/sink"
)

// A logger is ready to log.
type logger struct {
	three  log.Three
	silent bool          // makes no calls
	close  func() error  // returns after every line was written or dropped
	counts func() counts // after close; nil if each call is one line and only the writer loses lines
	failed *failures     // of the writer, if the logger does not count them
}

// counts are the counts of a logger itself.
type counts struct {
	emitted int64 // including lines that the logger adds
	dropped int64
}

// loggers open a logger that writes to stdout.
var loggers = map[string]func(stdout io.Writer) logger{
	"none":    func(io.Writer) logger { return logger{silent: true, close: nothing} },
	"ons-v1":  direct(log.ByLogGoV1),
	"ons-v2":  direct(log.ByLogGoV2),
	"zerolog": direct(log.ByZerolog),
	"phuslu":  direct(func(w io.Writer) log.Three { return log.ByPhuslu(phuslu.IOWriter{Writer: w}) }),
	// as zap's documentation requires
	"zap":         direct(func(w io.Writer) log.Three { return log.ByZap(zapcore.Lock(zapcore.AddSync(w))) }),
	"slog":        direct(log.BySlog),
	"weir":        openDirect,
	"weir-queued": openQueue,
}

func loggerNames() string {
	return strings.Join(slices.Sorted(maps.Keys(loggers)), ", ")
}

func nothing() error { return nil }

// direct returns a logger that writes each event in the goroutine that logs it.
func direct(by func(io.Writer) log.Three) func(io.Writer) logger {
	return func(stdout io.Writer) logger {
		failed := &failures{Writer: stdout}
		return logger{three: by(failed), close: nothing, failed: failed}
	}
}

// failures counts failed writes, which loggers do not report.
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

// openDirect also writes each event separately.
func openDirect(stdout io.Writer) logger {
	s := sink.NewDirect(stdout)
	return logger{three: log.ByWeir(s), close: s.Close, counts: countsOf(s.Stats)}
}

// flushTime limits the time in which the queue writes its lines at the end of the service.
const flushTime = 5 * time.Second

// openQueue queues the lines in memory for a goroutine that writes them: up to 8 MiB, of which info events may use
// three quarters. Lines beyond that are dropped.
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
