package machine

import "golang.org/x/sys/unix"

// FreeDisk returns the space in bytes that this user may use on the disk of a folder, or 0 if it is
// unknown.
func FreeDisk(folder string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
