package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A Folder is the path of a folder whose files are served. It is looked up each time, so
// that a folder that replaces it is served immediately. A symbolic link is followed if it is
// relative and leads to a place beneath the folder. The path itself may be any link.
type Folder string

// IsDirect reports whether the path has no symbolic links. Then a file is opened in one step, which
// is safe also if it becomes untrue later.
func (d Folder) IsDirect() bool {
	path, err := filepath.EvalSymlinks(string(d))
	return err == nil && path == filepath.Clean(string(d))
}

// A File is an open regular file or folder. The caller closes it.
type File struct {
	handle
	Size     int64
	Modified time.Time // zero if the file system has no useful time
	IsFolder bool
}

// errWait reports that an operation that may not wait would have to wait for a disk.
var errWait = errors.New("the file is not in memory")

// WouldWait reports whether a lookup failed because it may not wait.
func WouldWait(err error) bool { return err == errWait }

// A FolderError is an error of opening a Folder itself.
type FolderError struct{ Err error }

func (e *FolderError) Error() string { return "the root: " + e.Err.Error() }

func (e *FolderError) Unwrap() error { return e.Err }

// IsFolderError reports whether err is a *FolderError: it does not depend on the name.
func IsFolderError(err error) bool {
	var e *FolderError
	return errors.As(err, &e)
}

// openByRoot opens a file beneath a folder without the help of a system call for it.
func openByRoot(folder, path string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, &FolderError{err}
	}
	defer root.Close()
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // O_NONBLOCK: a FIFO without a writer would wait
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		err = fs.ErrNotExist // the name escapes from the root
	}
	return f, err
}

// missing reports whether err means that there is no file of a name beneath the folder.
func missing(err error) bool {
	switch {
	case err == nil || IsFolderError(err):
		return false
	case errors.Is(err, fs.ErrNotExist):
		return true
	}
	for _, errno := range []error{syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EXDEV, syscall.ENXIO} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// noTime is the latest time that counts as unknown. Reproducible builds give all files the
// time 0 or 1, which does not distinguish versions.
var noTime = time.Unix(1, 0)

// describe sets the properties of the file, which must be a regular file or a folder.
func (f *File) describe(mode fs.FileMode, size int64, modified time.Time) error {
	f.Size, f.IsFolder = size, mode.IsDir()
	if modified.After(noTime) {
		f.Modified = modified
	}
	if !f.IsFolder && !mode.IsRegular() {
		return fs.ErrNotExist
	}
	return nil
}
