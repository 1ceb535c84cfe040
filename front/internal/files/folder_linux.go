package files

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// resolveCached is RESOLVE_CACHED of openat2(2): the path is resolved only if that needs no
// disk.
const resolveCached = 0x20

// An opening is a folder that is open while a name is looked up.
type opening struct {
	folder Folder
	fd     int
	wait   bool
}

// open opens the folder. If it may not wait, it and the lookups below fail with errWait.
func (d Folder) open(wait bool) (o opening, err error) {
	o = opening{folder: d, wait: wait}
	o.fd, err = openBeneath(unix.AT_FDCWD, string(d), unix.O_PATH|unix.O_DIRECTORY, 0, wait)
	switch {
	case err == nil || err == errWait:
		return o, err
	case unsupported(err) && !wait:
		return o, errWait
	case unsupported(err):
		o.fd = -1
		return o, nil
	}
	return o, &FolderError{err}
}

func (o opening) close() {
	if o.fd >= 0 {
		unix.Close(o.fd)
	}
}

// unsupported reports whether the system has no openat2: Linux before 5.6, or a filter of
// system calls from that time.
func unsupported(err error) bool { return err == unix.ENOSYS || err == unix.EPERM }

// file opens a file or a folder beneath the folder.
func (o opening) file(path string) (f File, err error) {
	if o.fd < 0 {
		return openPlainly(o.folder, path)
	}
	// O_NONBLOCK: opening a FIFO without a writer would wait.
	f.fd, err = openBeneath(o.fd, path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, unix.RESOLVE_BENEATH, o.wait)
	if err == unix.EAGAIN { // a rename at the same time
		return openPlainly(o.folder, path)
	}
	if err != nil {
		return f, err
	}
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
