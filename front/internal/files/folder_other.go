//go:build !linux

package files

import (
	"errors"
	"io"
	"os"
)

// An opening is a folder that is open while a name is looked up.
type opening struct{ folder Folder }

// open returns errWait if it may not wait: the system cannot look up a name without waiting.
func (d Folder) open(direct, wait bool) (*opening, error) {
	if !wait {
		return nil, errWait
	}
	return &opening{d}, nil
}

func (o *opening) close() {}

// file opens a file or a folder beneath the folder.
func (o *opening) file(path string) (f File, err error) {
	file, err := openByRoot(string(o.folder), path)
	if err != nil {
		return f, err
	}
	f.handle = handle{file}
	info, err := file.Stat()
	if err == nil {
		err = f.describe(info.Mode(), info.Size(), info.ModTime())
	}
	if err != nil {
		f.Close()
		return File{}, err
	}
	return f, nil
}

// A handle is an open file.
type handle struct{ file *os.File }

// Close closes the file.
func (h handle) Close() { h.file.Close() }

// ReadAt reads at an offset: n is 0 at the end of the file. If it may not wait for the disk,
// it returns wait = true.
func (h handle) ReadAt(p []byte, at int64, mayWait bool) (n int, wait bool, err error) {
	if !mayWait {
		return 0, true, nil
	}
	n, err = h.file.ReadAt(p, at)
	if n > 0 || errors.Is(err, io.EOF) {
		err = nil
	}
	return n, false, err
}
