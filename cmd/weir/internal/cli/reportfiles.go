package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A ReportFile is one output form of a result. The file gets its name only when
// it is complete.
type ReportFile[R any] struct {
	Flag, Name string // Name "" means no file; "-" is stdout
	Write      func(io.Writer, R) error

	file   *os.File // nil for stdout
	target string   // the name that file is renamed to; "" if it is written in place
}

// ReportFiles are open report files.
type ReportFiles[R any] []*ReportFile[R]

// OpenReports opens the files that have a name, so that a run of an hour does
// not end with a file that cannot be written.
func OpenReports[R any](all ...*ReportFile[R]) (ReportFiles[R], error) {
	var files ReportFiles[R]
	for _, f := range all {
		if f.Name == "" {
			continue
		}
		if f.Name == "-" && files.Stdout() {
			files.Discard()
			return nil, Misuse(fmt.Errorf("%s is the second report for stdout", f.Flag), f.Flag+"=FILE")
		}
		if err := f.open(); err != nil {
			files.Discard()
			return nil, Misuse(fmt.Errorf("%s: %w", f.Flag, err), "name a file in a writable directory")
		}
		files = append(files, f)
	}
	return files, nil
}

// Stdout reports whether one of the reports goes to stdout. Nothing else may
// then be written there.
func (files ReportFiles[R]) Stdout() bool {
	return slices.ContainsFunc(files, func(f *ReportFile[R]) bool { return f.Name == "-" })
}

// Out returns where a report is written, for one that is written before its Write is called.
func (f *ReportFile[R]) Out(stdout io.Writer) io.Writer {
	if f.file == nil {
		return stdout
	}
	return f.file
}

// Write writes all reports.
func (files ReportFiles[R]) Write(stdout io.Writer, r R) error {
	for _, f := range files {
		if err := f.put(stdout, r); err != nil {
			return fmt.Errorf("%s: %w", f.Flag, err)
		}
	}
	return nil
}

// Discard removes the files that were opened and not written.
func (files ReportFiles[R]) Discard() {
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

// open creates a temporary file beside the target. A target that is not a
// regular file, such as /dev/stderr, is opened and written in place.
func (f *ReportFile[R]) open() error {
	if f.Name == "-" {
		return nil
	}
	target := f.Name
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved
	}
	var err error
	if info, missing := os.Stat(target); missing == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory", f.Name)
	} else if missing == nil && !info.Mode().IsRegular() {
		f.file, err = os.OpenFile(target, os.O_WRONLY, 0)
		return err
	}
	f.target = target
	f.file, err = os.OpenFile(fmt.Sprintf("%s.%d.part", target, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if at := new(fs.PathError); errors.As(err, &at) {
		return fmt.Errorf("write %s: %w", f.Name, at.Err) // not the temporary name
	}
	return err
}

// put writes the report and gives the file its name.
func (f *ReportFile[R]) put(stdout io.Writer, r R) error {
	out := stdout
	if f.file != nil {
		out = f.file
	}
	err := Buffered(out, func(w io.Writer) error { return f.Write(w, r) })
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
