package transport

import (
	"context"
	"net"
	"time"
)

// Goroutines is the driver whose exchanges run in goroutines and wait in package net.
var Goroutines Driver = goroutines{}

type goroutines struct{}

func (goroutines) Index() int { return 0 }

func (goroutines) Block(f func()) { f() }

func (goroutines) Dial(ctx context.Context, addr string) (Conn, error) {
	nc, err := (&net.Dialer{KeepAlive: keepAlive}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c, err := NewConn(nc.(*net.TCPConn))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// keepAlive is the interval of TCP's own probes on connections that Dial has made.
const keepAlive = 30 * time.Second
