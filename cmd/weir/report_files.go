package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A reportFile is one of the forms in which a result is written. The file appears
// under its name when it is whole.
type reportFile[R any] struct {
	flag, name string // "-" is stdout
	write      func(io.Writer, R) error

	file   *os.File // nil for stdout
	target string   // what file is renamed to; "" when it is written in place
}

type reportFiles[R any] []*reportFile[R]

// openReports opens those of the files that have a name: what cannot be written
// has to be known before a run that takes an hour.
func openReports[R any](all ...*reportFile[R]) (reportFiles[R], error) {
	var files reportFiles[R]
	for _, f := range all {
		if f.name == "" {
			continue
		}
		if f.name == "-" && files.stdout() {
			files.discard()
			return nil, &problem{err: fmt.Errorf("%s is the second report for stdout", f.flag), hint: f.flag + "=FILE", code: exitMisuse}
		}
		if err := f.open(); err != nil {
			files.discard()
			return nil, &problem{err: fmt.Errorf("%s: %w", f.flag, err), hint: "name a file in a directory that may be written to", code: exitMisuse}
		}
		files = append(files, f)
	}
	return files, nil
}

// stdout tells that a report goes there, so that nothing else may.
func (files reportFiles[R]) stdout() bool {
	for _, f := range files {
		if f.name == "-" {
			return true
		}
	}
	return false
}

// write writes all reports.
func (files reportFiles[R]) write(stdout io.Writer, r R) error {
	for _, f := range files {
		if err := f.put(stdout, r); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return nil
}

// discard removes what was opened and not written.
func (files reportFiles[R]) discard() {
	for _, f := range files {
		if f.file == nil {
			continue
		}
		f.file.Close()
		if f.target != "" {
			os.Remove(f.file.Name())
		}
	}
}

// open opens a new file beside the one of that name. What is there and no
// regular file, such as /dev/stderr, is written to in place.
func (f *reportFile[R]) open() error {
	if f.name == "-" {
		return nil
	}
	target := f.name
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved
	}
	var err error
	if info, missing := os.Stat(target); missing == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory", f.name)
	} else if missing == nil && !info.Mode().IsRegular() {
		f.file, err = os.OpenFile(target, os.O_WRONLY, 0)
		return err
	}
	f.target = target
	f.file, err = os.OpenFile(fmt.Sprintf("%s.%d.part", target, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if at := new(fs.PathError); errors.As(err, &at) {
		return fmt.Errorf("write %s: %w", f.name, at.Err) // the name that was asked for
	}
	return err
}

// put writes the report and gives the file its name.
func (f *reportFile[R]) put(stdout io.Writer, r R) error {
	out := stdout
	if f.file != nil {
		out = f.file
	}
	err := buffered(out, func(w io.Writer) error { return f.write(w, r) })
	if err != nil || f.file == nil {
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	if f.target != "" {
		if err := os.Rename(f.file.Name(), f.target); err != nil {
			return err
		}
	}
	f.file = nil
	return nil
}
