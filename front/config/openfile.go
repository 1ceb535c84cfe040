package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/internal/yamlfile"
)

// relativeHint is the hint if a file or folder that a file names cannot be used.
const relativeHint = "a relative path is relative to the folder of this file"

// resolve returns the path of a file or folder that a file names. A relative one is relative
// to the folder of that file.
func resolve(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// readNamed reads a regular file that is named at a position of another one, and adds it to
// the Sources. If it cannot be read, readNamed reports a mistake, in which kind comes before
// the name, and returns false.
func (r *reader) readNamed(by *yamlfile.File, at yamlfile.Pos, kind, name string) (src []byte, ok bool) {
	src, err := readRegularFile(name)
	if err != nil {
		by.Mistakef(at, relativeHint, "%s %s: %s", kind, yamlfile.Quote(name), syscallError(err))
		return nil, false
	}
	r.config.Sources = append(r.config.Sources, name)
	return src, true
}

var errNotRegular = errors.New("not a regular file")

// readRegularFile reads a regular file. It refuses others, such as pipes, which
// could block.
func readRegularFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// syscallError returns the cause of an error of package os, without the path.
func syscallError(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
