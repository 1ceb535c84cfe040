package service

import (
	"os"

	"golang.org/x/sys/unix"
)

// isFull tells whether there is hardly any room left where a file is.
func isFull(f *os.File) bool {
	const hardly = 64 << 10
	var disk unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &disk) == nil && disk.Blocks > 0 && disk.Bavail*uint64(disk.Bsize) < hardly
}
