package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// A reportFile is one of the forms in which a result is written. The file appears
// under its name when it is whole.
type reportFile struct {
	flag, name string // "-" is stdout
	write      func(io.Writer, *load.Result) error

	file   *os.File // nil for stdout
	target string   // what file is renamed to; "" when it is written in place
}

type reportFiles []*reportFile

// reports opens the files that flags name: what cannot be written has to be known
// before a run that takes an hour.
func (c *loadSendCmd) reports() (reportFiles, error) {
	var files reportFiles
	for _, f := range []*reportFile{
		{flag: "--json", name: string(c.JSON), write: writeJSON},
		{flag: "--csv", name: c.CSV, write: report.CSV},
		{flag: "--html", name: c.HTML, write: report.HTML},
		{flag: "--hdr", name: c.HDR, write: report.HDR},
	} {
		if f.name == "" {
			continue
		}
		if f.name == "-" && files.stdout() {
			files.discard()
			return nil, loadMisuse(f.flag+"=FILE", "%s is the second report for stdout", f.flag)
		}
		if err := f.open(); err != nil {
			files.discard()
			return nil, loadMisuse("name a file in a directory that may be written to", "%s: %w", f.flag, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// stdout tells that a report goes there, so that nothing else may.
func (files reportFiles) stdout() bool {
	for _, f := range files {
		if f.name == "-" {
			return true
		}
	}
	return false
}

// write writes all reports.
func (files reportFiles) write(stdout io.Writer, r *load.Result) error {
	for _, f := range files {
		if err := f.put(stdout, r); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return nil
}

// discard removes what was opened and not written.
func (files reportFiles) discard() {
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
func (f *reportFile) open() error {
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
	return err
}

// put writes the report and gives the file its name.
func (f *reportFile) put(stdout io.Writer, r *load.Result) error {
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

// writeJSON writes the result as the document of docs/load.md.
func writeJSON(w io.Writer, r *load.Result) error {
	return printJSON(w, r)
}
