package transport

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Goroutines is the driver whose exchanges run in goroutines and wait in package net.
var Goroutines Driver = goroutines{}

type goroutines struct{}

func (goroutines) Index() int { return 0 }

func (goroutines) Now() time.Time { return time.Now() }

func (goroutines) Block(f func()) { f() }

func (goroutines) Go(t Task) { go t.Run() }

func (goroutines) Wait(s *Signal, limit time.Duration) bool {
	if s.Sent() {
		return true
	}
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	for !s.Sent() {
		select {
		case <-s.token:
		case <-over:
			return s.Sent()
		}
	}
	return true
}

func (goroutines) Dial(ctx context.Context, addr string) (Conn, error) {
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, UnixPrefix); ok {
		network, addr = "unix", path
	}
	nc, err := (&net.Dialer{KeepAlive: keepAlive}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	var c *NetConn
	if tcp, ok := nc.(*net.TCPConn); ok {
		c, err = NewConn(tcp)
	} else {
		c, err = newConn(nc.(*net.UnixConn), netip.AddrPort{})
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// keepAlive is the interval of TCP's own probes on connections that Dial has made.
const keepAlive = 30 * time.Second
