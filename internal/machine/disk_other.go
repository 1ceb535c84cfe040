//go:build !linux

package machine

// FreeDisk returns 0: the space is unknown.
func FreeDisk(folder string) (int64, error) { return 0, nil }
