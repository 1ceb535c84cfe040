package service

import (
	"io"
	"os"
	"time"
)

// A Sink takes what a program writes. It is made by Null, File, Pipe or
// Terminal, and serves one Service. Its methods may be called at once.
type Sink struct {
	kind      kind
	name      string // of the file
	perSecond int64

	reader *reader  // of a pipe or a terminal
	file   *os.File // of a file, for reading
	lines  lineCount
}

type kind int

const (
	null kind = iota
	file
	pipe
	terminal
)

// Null throws away what is written.
func Null() *Sink { return &Sink{kind: null} }

// File has the program write to a file itself, which must not be there yet.
func File(name string) *Sink { return &Sink{kind: file, name: name} }

// Pipe reads a pipe, perSecond bytes a second if that is more than 0.
func Pipe(perSecond int64) *Sink { return &Sink{kind: pipe, perSecond: perSecond} }

// Terminal reads a pseudo-terminal of 80 columns.
func Terminal() *Sink { return &Sink{kind: terminal} }

// open returns the end that the program writes to, which the caller closes
// once the program has it.
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

// Count says how much has come so far. It takes a system call or none.
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

// Lines counts the lines so far. A file is read for it, from where it was read
// to the last time.
func (s *Sink) Lines() int64 {
	switch {
	case s.reader != nil:
		return s.reader.lines.Load()
	case s.file != nil:
		return s.lines.readOn(s.file)
	}
	return 0
}

// Tail returns the last 64 KiB at most.
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

// cpu is what reading has cost so far.
func (s *Sink) cpu() time.Duration {
	if s.reader == nil {
		return 0
	}
	return s.reader.meter.Used()
}

// hold has a pipe's reader stop for a time.
func (s *Sink) hold(from, until time.Time) {
	if s.reader != nil && s.kind == pipe {
		s.reader.hold(from, until)
	}
}

// finish takes what is left when nobody writes any more. It does not wait long
// for who writes nevertheless.
func (s *Sink) finish() {
	if s.reader != nil {
		s.reader.finish()
	}
}

// close closes what finish has left open.
func (s *Sink) close() {
	if s.file != nil {
		s.file.Close()
	}
	if s.reader != nil {
		s.reader.close()
	}
}
