package proxy

import "time"

// ServerLimit limits the exchanges at each server of an upstream. The zero value sets no limit.
type ServerLimit struct {
	// Max is the number of exchanges that may be at a server at the same time. Over HTTP/1, it is
	// also the number of connections to the server, including unused ones. 0 is no limit.
	Max int

	// Queue is the number of exchanges that may wait until a server has a free place. Others fail
	// with kind QueueFull.
	Queue int

	// Wait is the longest time that an exchange waits. It then fails with kind QueueTimeout.
	Wait time.Duration
}
