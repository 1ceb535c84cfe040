// Package namedfile reads files and paths of folders that the file of a configuration names.
package namedfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RelativeHint is the hint if a file or folder that a file names cannot be used.
const RelativeHint = "a relative path is relative to the folder of this file"

// Hint returns the hint for a file that cannot be read.
func Hint(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "the user that runs weir must be allowed to read it"
	}
	return RelativeHint
}

// Resolve returns the path of a file or folder that a file names. A relative one is relative
// to the folder of that file.
func Resolve(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

var errNotRegular = errors.New("not a regular file")

// Read reads a regular file. It refuses others, such as pipes, which
// could block.
func Read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// Cause returns the cause of an error of package os, without the path.
func Cause(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
