//go:build !linux

package files

// withoutOpenat2 returns an open folder.
func withoutOpenat2(d Folder) *opening { return &opening{d} }
