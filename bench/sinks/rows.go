package sinks

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	phuslu "github.com/phuslu/log"
	"github.com/rs/zerolog/diode"
	"go.uber.org/zap/zapcore"

	"github.com/weirhq/weir/bench/log"
	"github.com/weirhq/weir/log/sink"
)

// A Kind is the class in which a row is compared.
type Kind int

// The kinds.
const (
	Ours       Kind = iota
	Unbuffered      // a peer that writes each event separately
	Buffered        // a peer that buffers events
	Bare            // the cost without making or buffering lines
)

// A Row is one way for lines to leave the process.
type Row struct {
	Name, Note string
	Kind       Kind
	Silent     bool // writes no lines
	open       func(output) (*opened, error)
}

// opened is a row that is ready to run.
type opened struct {
	producer func() producer // returns a producer for one goroutine; may be called any number of times
	close    func() error    // returns after every line was written or dropped
	counts   func() counts   // after close; nil if the row does not count
}

// counts are the counts of a row itself.
type counts struct {
	emitted uint64 // including its own lines; 0 if it counts only dropped ones
	dropped uint64
}

// A producer logs for one goroutine.
type producer struct {
	receive func()    // starts another request
	event   func(int) // logs the first, second or third event of the request
	end     func() error
}

// The names of the rows that targets refer to.
const (
	Queue     = "weir Queue"
	NoLogging = "the load without logging"
)

// Rows are the rows of the comparison.
var Rows = []Row{
	{Name: Queue, Note: "shed, 8 MiB", Kind: Ours, open: openQueue(sink.Shed)},
	{Name: Queue + " that blocks", Note: "8 MiB", Kind: Ours, open: openQueue(sink.Block)},
	{Name: "weir Direct", Note: "a write for each event", Kind: Ours, open: openDirect},
	{Name: "zerolog", Note: "a write for each event", Kind: Unbuffered, open: openZerolog},
	{Name: "phuslu/log", Note: "a write for each event", Kind: Unbuffered, open: openPhuslu},
	{Name: "zap", Note: "a write for each event", Kind: Unbuffered, open: openZap},
	{Name: "zap BufferedWriteSyncer", Note: "256 KiB, 30 s", Kind: Buffered, open: openZapBuffered},
	{Name: "phuslu/log AsyncWriter", Note: "4,096 events, waits when full; writev to a file", Kind: Buffered,
		open: openPhusluAsync},
	{Name: "zerolog diode", Note: "20,000 events, polled each 10 ms; overwrites when full", Kind: Buffered,
		open: openDiode},
	{Name: "weir to nowhere", Note: "the lines are made and thrown away", Kind: Bare, Silent: true, open: openNowhere},
	{Name: "floor", Note: "writev of 64 prepared events", Kind: Bare, open: openFloor},
	{Name: NoLogging, Note: "nothing is logged", Kind: Bare, Silent: true, open: openNothing},
}

// Find returns the row with this name.
func Find(name string) (Row, bool) {
	for _, r := range Rows {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

// output is the destination of the lines: the file at path, or stdout if path is empty.
type output struct{ path string }

// file opens a file as logs are usually opened.
func (o output) file() (*os.File, error) {
	if o.path == "" {
		return os.Stdout, nil
	}
	return os.OpenFile(o.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
}

// logging returns a row that logs the three events through one logger.
func logging(three log.Three, close func() error, counts func() counts) *opened {
	return &opened{close: close, counts: counts, producer: func() producer {
		var r log.Request
		return producer{
			receive: func() { log.Received(&r) },
			event:   func(i int) { three[i](&r) },
			end:     func() error { return nil },
		}
	}}
}

// unbuffered returns a row whose logger writes directly to the file.
func unbuffered(by func(io.Writer) log.Three) func(output) (*opened, error) {
	return func(o output) (*opened, error) {
		f, err := o.file()
		if err != nil {
			return nil, err
		}
		return logging(by(f), f.Close, nil), nil
	}
}

var (
	openZerolog = unbuffered(log.ByZerolog)
	openPhuslu  = unbuffered(func(w io.Writer) log.Three { return log.ByPhuslu(phuslu.IOWriter{Writer: w}) })
	// zap's documentation requires a lock for every file.
	openZap = unbuffered(func(w io.Writer) log.Three { return log.ByZap(zapcore.Lock(zapcore.AddSync(w))) })
)

func openZapBuffered(o output) (*opened, error) {
	f, err := o.file()
	if err != nil {
		return nil, err
	}
	buffered := &zapcore.BufferedWriteSyncer{WS: written{f}}
	return logging(log.ByZap(buffered), func() error { return errors.Join(buffered.Stop(), f.Close()) }, nil), nil
}

// written hides the Sync method: no other row waits for the disk.
type written struct{ io.Writer }

func (written) Sync() error { return nil }

// openPhusluAsync has the settings of phuslu/log's own example, without its rotation. It uses writev only with its
// FileWriter.
func openPhusluAsync(o output) (*opened, error) {
	async := &phuslu.AsyncWriter{ChannelSize: 4096}
	if o.path != "" {
		async.Writer = &phuslu.FileWriter{Filename: o.path}
	} else {
		async.Writer = phuslu.IOWriter{Writer: os.Stdout}
	}
	return logging(log.ByPhuslu(async), async.Close, nil), nil
}

// openDiode has the settings of zerolog's own example. Its 1,000 events are about the capacity of Weir's queue.
func openDiode(o output) (*opened, error) {
	f, err := o.file()
	if err != nil {
		return nil, err
	}
	var missed atomic.Uint64
	w := diode.NewWriter(f, 20_000, 10*time.Millisecond, func(n int) { missed.Add(uint64(n)) })
	return logging(log.ByZerolog(w), w.Close, func() counts { return counts{dropped: missed.Load()} }), nil
}

// A weirSink is the common interface of Weir's sinks.
type weirSink interface {
	io.Writer
	Stats() sink.Stats
}

// weirFile opens a file like weir serve.
func (o output) weirFile() (io.WriteCloser, error) {
	if o.path == "" {
		return os.Stdout, nil
	}
	return sink.OpenFile(o.path, sink.FileOptions{})
}

func openDirect(o output) (*opened, error) {
	f, err := o.weirFile()
	if err != nil {
		return nil, err
	}
	direct := sink.NewDirect(f)
	return weirRow(direct, func() error { return errors.Join(direct.Close(), f.Close()) }), nil
}

func openQueue(full sink.Policy) func(output) (*opened, error) {
	return func(o output) (*opened, error) {
		f, err := o.weirFile()
		if err != nil {
			return nil, err
		}
		queue := sink.NewQueue(f, sink.QueueOptions{WhenFull: full})
		return weirRow(queue, func() error { return errors.Join(queue.Close(context.Background()), f.Close()) }), nil
	}
}

func weirRow(s weirSink, close func() error) *opened {
	return logging(log.ByWeir(s), close, func() counts {
		stats := s.Stats()
		return counts{emitted: stats.Emitted, dropped: stats.Lost()}
	})
}
