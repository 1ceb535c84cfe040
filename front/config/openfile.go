package config

import (
	"errors"
	"io/fs"
	"os"
)

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
