package service

import (
	"io"
	"os"
	"time"
)

// A Sink receives the output of a program. Null, File, Pipe and Terminal make
// one. It serves one Service. Its methods may be called concurrently.
type Sink struct {
	kind      kind
	name      string // of the file
	perSecond int64

	reader *reader  // for a pipe or a terminal
	file   *os.File // for a file, opened for reading
	lines  lineCount
}

type kind int

const (
	null kind = iota
	file
	pipe
	terminal
)

// Null discards the output.
func Null() *Sink { return &Sink{kind: null} }

// File makes the program write to a new file itself.
func File(name string) *Sink { return &Sink{kind: file, name: name} }

// Pipe returns a Sink that reads a pipe, at most perSecond bytes per second if
// that is greater than 0.
func Pipe(perSecond int64) *Sink { return &Sink{kind: pipe, perSecond: perSecond} }

// Terminal returns a Sink that reads a pseudo-terminal of 80 columns.
func Terminal() *Sink { return &Sink{kind: terminal} }

// open returns the end that the program writes to. The caller closes it after
// the start.
func (s *Sink) open() (end *os.File, err error) {
	switch s.kind {
	case file:
		return s.openFile()
	case pipe, terminal:
		open := os.Pipe
		if s.kind == terminal {
			open = openTerminal
		}
		from, end, err := open()
		if err != nil {
			return nil, err
		}
		defer from.Close()
		fd, err := nonblocking(from)
		if err != nil {
			end.Close()
			return nil, err
		}
		s.reader = startReader(fd, s.perSecond)
		return end, nil
	}
	return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
}

func (s *Sink) openFile() (end *os.File, err error) {
	end, err = os.OpenFile(s.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if s.file, err = os.Open(s.name); err != nil {
		end.Close()
		return nil, err
	}
	return end, nil
}

// Count returns the amount of output so far. It takes at most one system call.
func (s *Sink) Count() Count {
	switch {
	case s.reader != nil:
		return s.reader.count()
	case s.file != nil:
		info, err := s.file.Stat()
		if err != nil || info.Size() == 0 {
			return Count{}
		}
		return Count{Bytes: info.Size(), Last: info.ModTime()}
	}
	return Count{}
}

// Lines returns the number of lines so far. It reads the new part of a file.
func (s *Sink) Lines() int64 {
	switch {
	case s.reader != nil:
		return s.reader.lines.Load()
	case s.file != nil:
		return s.lines.readOn(s.file)
	}
	return 0
}

// Tail returns at most the last 64 KiB.
func (s *Sink) Tail() []byte {
	switch {
	case s.reader != nil:
		return s.reader.tail()
	case s.file != nil:
		info, err := s.file.Stat()
		if err != nil {
			return nil
		}
		text, _ := io.ReadAll(io.NewSectionReader(s.file, max(0, info.Size()-tailSize), tailSize))
		return text
	}
	return nil
}

// cpu returns the CPU time used for reading.
func (s *Sink) cpu() time.Duration {
	if s.reader == nil {
		return 0
	}
	return s.reader.meter.Used()
}

// hold suspends the reader of a pipe.
func (s *Sink) hold(from, until time.Time) {
	if s.reader != nil && s.kind == pipe {
		s.reader.hold(from, until)
	}
}

// finish reads the rest of the output after all known writers have ended. It
// waits only finishWithin for other writers.
func (s *Sink) finish() {
	if s.reader != nil {
		s.reader.finish()
	}
}

// close closes the files that finish leaves open.
func (s *Sink) close() {
	if s.file != nil {
		s.file.Close()
	}
	if s.reader != nil {
		s.reader.close()
	}
}
