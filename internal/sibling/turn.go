package sibling

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// retry is the time between two attempts of ListenInTurn.
const retry = 50 * time.Millisecond

// ListenInTurn listens at a name as soon as no other process does. If ctx ends before, the error is that of ctx.
func ListenInTurn(ctx context.Context, name string) (*net.UnixListener, error) {
	for ctx.Err() == nil {
		l, err := Listen(name)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil, ctx.Err()
}
