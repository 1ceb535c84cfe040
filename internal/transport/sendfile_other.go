//go:build !linux

package transport

// A fileWriting is empty: a NetConn is no FileSender.
type fileWriting struct{}
