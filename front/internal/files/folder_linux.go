package files

import (
	"io/fs"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// resolveCached is RESOLVE_CACHED of openat2(2): the path is resolved only if that needs no
// disk.
const resolveCached = 0x20

// An opening is a folder while a name is looked up.
type opening struct {
	folder Folder
	wait   bool
	direct bool // files may be opened by their whole path
	found  bool // a file was opened by its whole path
	opened bool // fd is valid
	fd     int  // of the folder; -1 without openat2
}

// open begins a lookup. If it may not wait, the lookups below fail with errWait. The folder
// itself is opened when that is necessary.
func (d Folder) open(direct, wait bool) (*opening, error) {
	return &opening{folder: d, wait: wait, direct: direct}, nil
}

// openFolder opens the folder, unless it is open.
func (o *opening) openFolder() (err error) {
	if o.opened {
		return nil
	}
	o.fd, err = openBeneath(unix.AT_FDCWD, string(o.folder), unix.O_PATH|unix.O_DIRECTORY, 0, o.wait)
	switch {
	case err == errWait:
		return err
	case unsupported(err) && !o.wait:
		return errWait
	case unsupported(err):
		o.fd = -1
	case err != nil:
		return &FolderError{err}
	}
	o.opened = true
	return nil
}

func (o *opening) close() {
	if o.opened && o.fd >= 0 {
		unix.Close(o.fd)
	}
}

// unsupported reports whether the system has no openat2: Linux before 5.6, or a filter of
// system calls from that time.
func unsupported(err error) bool { return err == unix.ENOSYS || err == unix.EPERM }

// readOnly are the flags for a file. O_NONBLOCK: opening a FIFO without a writer would wait.
const readOnly = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY

// file opens a file or a folder beneath the folder.
func (o *opening) file(path string) (f File, err error) {
	if o.direct && !o.opened {
		if f, err = o.fileDirectly(path); err == nil || err == errWait || err == unix.ENOENT && o.found {
			return f, err
		}
	}
	if err := o.openFolder(); err != nil {
		return f, err
	}
	if o.fd < 0 {
		return openPlainly(o.folder, path)
	}
	f.fd, err = openBeneath(o.fd, path, readOnly, unix.RESOLVE_BENEATH, o.wait)
	if err == unix.EAGAIN { // a rename at the same time
		return openPlainly(o.folder, path)
	}
	if err != nil {
		return f, err
	}
	return f.described()
}

// fileDirectly opens a file or a folder by its whole path, which saves opening the folder. Without
// symbolic links and without "..", the path leads to a place beneath the folder. If it fails, file
// finds the reason.
func (o *opening) fileDirectly(path string) (f File, err error) {
	if strings.Contains(path, "..") {
		return f, unix.EXDEV
	}
	f.fd, err = openBeneath(unix.AT_FDCWD, string(o.folder)+"/"+path, readOnly, unix.RESOLVE_NO_SYMLINKS, o.wait)
	if err != nil {
		return f, err
	}
	o.found = true
	return f.described()
}

func openPlainly(folder Folder, path string) (f File, err error) {
	file, err := openByRoot(string(folder), path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	if f.fd, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return f, err
	}
	return f.described()
}

// openBeneath is openat2(2).
func openBeneath(dir int, path string, flags, resolve uint64, wait bool) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: resolve}
	if !wait {
		how.Resolve |= resolveCached
	}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN && !wait, err == unix.EINVAL && !wait: // EINVAL: Linux before 5.12
			return -1, errWait
		default:
			return fd, err
		}
	}
}

// described returns the file with its description. It closes the file after an error.
func (f File) described() (File, error) {
	var st unix.Stat_t
	err := unix.Fstat(f.fd, &st)
	if err == nil {
		mode := fs.ModeIrregular
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			mode = 0
		case unix.S_IFDIR:
			mode = fs.ModeDir
		}
		err = f.describe(mode, st.Size, time.Unix(st.Mtim.Unix()))
	}
	if err != nil {
		f.Close()
		return File{}, err
	}
	return f, nil
}

// A handle is a file descriptor.
type handle struct{ fd int }

// Close closes the file.
func (h handle) Close() { unix.Close(h.fd) }

// ReadAt reads at an offset, as pread(2): n is 0 at the end of the file. If it may not wait
// for the disk, it may read less, and returns wait = true if it would have to wait for the
// first byte.
func (h handle) ReadAt(p []byte, at int64, mayWait bool) (n int, wait bool, err error) {
	for {
		if mayWait {
			n, err = unix.Pread(h.fd, p, at)
		} else {
			n, err = unix.Preadv2(h.fd, [][]byte{p}, at, unix.RWF_NOWAIT)
		}
		switch {
		case err == nil:
			return n, false, nil
		case err == syscall.EINTR:
		case !mayWait && (err == unix.EAGAIN || err == unix.EOPNOTSUPP || unsupported(err)):
			return 0, true, nil
		default:
			return 0, false, err
		}
	}
}
