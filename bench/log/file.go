package log

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/log/sink"
)

// ToFile is the case of [Files].
const ToFile = "log: the three events of a proxied request, to a file"

// Files is the case in which the lines are written to files, so that writing is measured too. It must be closed.
type Files struct {
	Case measure.Case
	logs []*logFile
}

// OpenFiles makes a file for each row in the folder dir. The files have no names and disappear when they are closed or
// the program ends. They are emptied after each pass.
func OpenFiles(dir string) (*Files, error) {
	files := &Files{Case: measure.Case{Name: ToFile}}
	rows := withFloor(by([]contender{byWeir, byZerolog, byPhusluMillis}, threeEvents))
	rows[len(rows)-1].note = "time.Now and a write of the finished bytes"
	for _, r := range rows {
		log, err := files.create(dir)
		if err != nil {
			return nil, errors.Join(err, files.Close())
		}
		direct := r.measured(log)
		if r.ours {
			direct.Note = "a write for each event"
		}
		files.add(log, direct)
	}
	log, err := files.create(dir)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	files.add(log, measure.Row{Name: Weir, Note: "through sink.Queue, in batches", Ours: true,
		Run: log.queued})
	return files, nil
}

func (f *Files) create(dir string) (*logFile, error) {
	file, err := os.CreateTemp(dir, "weir-bench-*.log")
	if err != nil {
		return nil, err
	}
	f.logs = append(f.logs, &logFile{File: file})
	return f.logs[len(f.logs)-1], os.Remove(file.Name())
}

func (f *Files) add(log *logFile, r measure.Row) {
	r.After = log.empty
	f.Case.Rows = append(f.Case.Rows, r)
}

// Close returns the errors of writing the files. The measurement of a row that lost lines is invalid.
func (f *Files) Close() error {
	var errs []error
	for _, log := range f.logs {
		errs = append(errs, log.err, log.Close())
	}
	return errors.Join(errs...)
}

// logFile keeps the first write error, which loggers do not report.
type logFile struct {
	*os.File
	err error
}

func (f *logFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.keep(err)
	return n, err
}

func (f *logFile) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *logFile) empty() {
	f.keep(f.Truncate(0))
	_, err := f.Seek(0, io.SeekStart)
	f.keep(err)
}

// queueBytes is less than the default of a Queue. Lines arrive as fast as they can be made, which fills any queue, and
// the buffers of a flood of 8 MiB would be released and allocated again continuously.
const queueBytes = 256 << 10

// queued does the work n times through a new queue, and returns when all lines are written.
func (f *logFile) queued(n int) {
	q := sink.NewQueue(f.File, sink.QueueOptions{Bytes: queueBytes, WhenFull: sink.Block})
	r := *proxied
	r.now()
	threeEvents(openWeir(q))(n, &r)
	f.keep(q.Close(context.Background()))
	if lost := q.Stats().Lost(); lost > 0 {
		f.keep(fmt.Errorf("the queue lost %d events", lost))
	}
}
