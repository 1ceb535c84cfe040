package transport

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

// A Conn is a connection. At the same time, one goroutine or coroutine may read from it
// and one may write to it. Any goroutine may call the methods that set deadlines, and
// Close.
//
// Errors come from package net and from the system: os.ErrDeadlineExceeded after a
// deadline, net.ErrClosed after Close, io.EOF at the end of the stream.
type Conn interface {
	// Read waits until bytes have arrived, and reads them.
	Read(p []byte) (int, error)

	// ReadInto is Read with a buffer that is held only while there is something to read.
	ReadInto(s Space) (int, error)

	// WriteReadInto writes p and then is ReadInto. It saves the first read, which would
	// find nothing. If the socket does not take all of p immediately, WriteReadInto
	// returns how much it took, with n = 0 and without an error.
	WriteReadInto(p []byte, s Space) (written, n int, writeErr, readErr error)

	// TryRead reads bytes that have arrived. It does not wait: ok is false if there are
	// none. At the end of the stream, n is 0, ok is true and err is nil.
	TryRead(p []byte) (n int, ok bool, err error)

	// Quiet reports whether nothing has arrived: no bytes, no end of the stream and no
	// error. surplus reports whether bytes have arrived. An expired deadline does not
	// matter, and is removed.
	Quiet() (quiet, surplus bool)

	// TryWrite writes as much of p as the kernel takes immediately.
	TryWrite(p []byte) (int, error)

	// Write waits until the kernel has taken all of p, or an error occurs.
	Write(p []byte) (int, error)

	// Room waits until a write is worthwhile, and returns about how many bytes Write takes
	// without waiting. If the kernel does not report that, it returns a large number.
	Room() (int, error)

	// A deadline ends the operations in progress and later ones. It may be late by a tenth
	// of a second. The zero time is no deadline, and an early time such as [Past]
	// interrupts immediately.
	SetDeadline(t time.Time) error
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error

	// CloseWrite sends the end of the stream.
	CloseWrite() error

	// Close closes the connection. It may be called more than once.
	Close() error

	// Abort closes the connection with a reset: the peer cannot mistake it for a regular
	// end.
	Abort() error

	// Remote returns the address of the peer. An IPv4 address is a plain one, also if the
	// listener is for IPv6. It is the zero value if the peer has a Unix socket.
	Remote() netip.AddrPort
}

// A FileSender is a Conn that sends files without a copy in the memory of the process. It is a
// connection of Linux without TLS.
type FileSender interface {
	Conn

	// SendFile sends p and then n bytes of the open file fd from the offset at, as much as the
	// kernel takes immediately. If that is nothing and p is empty, SendFile waits until the
	// kernel takes bytes again, and returns 0. It waits for the disk unless the bytes are in
	// the page cache. The error is [ErrFile] if the file has failed, after p was sent.
	SendFile(p []byte, fd int, at int64, n int) (sent int, err error)
}

// ErrFile reports that SendFile cannot read the file: it has ended, its disk has failed, or it
// is of a file system without sendfile(2). A read of the same bytes returns the reason.
var ErrFile = errors.New("the file cannot be sent without a read")

// A Space provides the memory for a read. Space is called when there may be something to
// read, and GiveBack before a wait.
type Space interface {
	Space() []byte
	GiveBack()
}

// A Driver runs exchanges. Its methods are called by an exchange that it runs.
type Driver interface {
	// Index distinguishes drivers: each has connections of its own. It is 0 for
	// Goroutines and 1, 2, ... for loops.
	Index() int

	// Now returns the present time. On a loop it is that of the turn, a few milliseconds old at
	// most.
	Now() time.Time

	// Dial connects to a TCP address, host:port, or to a Unix socket: UnixPrefix and its
	// path.
	Dial(ctx context.Context, addr string) (Conn, error)

	// Block calls f, which may wait in any way, and returns when f has returned. Other
	// exchanges of the driver continue meanwhile. f may run in another goroutine.
	Block(f func())

	// Go runs a task in another goroutine or coroutine of the driver.
	Go(t Task)

	// Wait waits until s was sent, but not longer than the limit, which may be exceeded by a
	// tenth of a second. 0 is no limit. Wait reports whether s was sent.
	Wait(s *Signal, limit time.Duration) bool
}

// A Task is work for a goroutine or coroutine.
type Task interface{ Run() }

// UnixPrefix begins an address that is the path of a Unix socket.
const UnixPrefix = "unix:"

// Past is a deadline that interrupts.
var Past = time.Unix(1, 0)

// A Pacer is called at the end of each turn of a loop, and at exact times.
type Pacer interface {
	// Pace is called on the loop, outside of a task. It must not wait. It returns after which
	// time it is called again at the latest; with Linux 5.11 the loop is exact to the precision
	// of the thread's timers.
	Pace() time.Duration
}

// A TurnEnder is called at the end of a turn of a loop.
type TurnEnder interface {
	// EndTurn is called on the loop, outside of a task. It must not wait.
	EndTurn()
}
