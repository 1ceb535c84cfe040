package fmtcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// replace gives a file new contents, the same permissions, and the same owner. Another process, such as a front door
// that watches it, sees the old or the new contents. Of a symbolic link, it replaces the target.
func replace(name string, contents []byte) (err error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	// An include pattern such as *.yaml does not match a name with a dot at its beginning.
	beside, err := os.CreateTemp(filepath.Dir(target), ".weir-fmt-*")
	if at := new(fs.PathError); errors.As(err, &at) {
		return fmt.Errorf("write %s: %w", name, at.Err) // not the temporary name
	}
	defer func() {
		if err != nil {
			beside.Close()
			os.Remove(beside.Name())
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	if _, err := beside.Write(contents); err != nil {
		return err
	}
	if err := keepOwner(beside, info); err != nil {
		return fmt.Errorf("the new file would have another owner: %w", err)
	}
	if err := beside.Chmod(info.Mode()); err != nil { // after the owner, whose change removes setuid
		return err
	}
	if err := beside.Sync(); err != nil {
		return err
	}
	if err := beside.Close(); err != nil {
		return err
	}
	return os.Rename(beside.Name(), target)
}

// keepOwner gives a file the owner and the group of another one.
func keepOwner(f *os.File, of os.FileInfo) error {
	want := of.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if own := info.Sys().(*syscall.Stat_t); own.Uid == want.Uid && own.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
