package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/weirhq/weir/load/internal/request"
)

// A targetFile is a file of targets that is being read.
type targetFile struct {
	List
	name   string
	find   request.Find
	data   []byte          // without a byte order mark
	bodies map[string]Body // by file name
}

// fail adds the file name, line and column of an offset to an error.
func (f *targetFile) fail(offset int, err error) error {
	if e, ok := err.(*request.ColumnError); ok { // its column counts from offset
		offset, err = offset+e.Column-1, e.Why
	}
	before := f.data[:min(max(offset, 0), len(f.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: %w", f.name, line, column, err)
}

// close closes the files of bodies after an error.
func (f *targetFile) close() error {
	var errs []error
	for _, body := range f.bodies {
		if file, ok := body.File.(io.Closer); ok {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
}
