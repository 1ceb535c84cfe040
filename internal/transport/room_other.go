//go:build !linux

package transport

import (
	"math"
	"syscall"
)

// SendBlock is the free space in a socket's buffer that is worth a write, in bytes.
const SendBlock = 32 << 10

type room struct{ look func(fd uintptr) bool }

func (r *room) lookOnce(uintptr) bool { return true }

// wait returns no limit: only Linux reports the free space of a socket.
func (r *room) wait(syscall.RawConn) (int, error) { return math.MaxInt, nil }
