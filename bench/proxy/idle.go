package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// settleTime is the time in which a door is expected to finish the work for connections that were closed or became
// idle.
const settleTime = time.Second

// measureIdle returns the memory and the CPU time that idle connections cost, and the total number of requests. The
// memory is the difference to that of the same process after a second of load over 64 connections.
func (b *Bench) measureIdle(ctx context.Context, w Work, p *program, s site) (Cost, int, error) {
	warm := w
	warm.Connections, warm.Idle = 64, false
	l, err := b.load(ctx, s.origin(), warm, time.Second)
	if err != nil {
		return Cost{}, 0, err
	}
	before, err := rest(ctx, p, w.Load)
	if err != nil {
		return Cost{}, 0, err
	}
	clients := make([]net.Conn, w.Connections)
	for i := range clients {
		if clients[i], err = dial(ctx, w, local(s.port)); err != nil {
			return Cost{}, 0, err
		}
		defer clients[i].Close()
		if err := request(clients[i], w); err != nil {
			return Cost{}, 0, fmt.Errorf("connection %d: %w", i+1, err)
		}
	}
	after, err := rest(ctx, p, w.Load)
	if err != nil {
		return Cost{}, 0, err
	}
	for i, c := range clients {
		if err := request(c, w); err != nil {
			return Cost{}, 0, fmt.Errorf("the second request on connection %d of %d: %w", i+1, len(clients), err)
		}
	}
	return Cost{Memory: float64(after.memory-before.memory) / float64(len(clients)), IdleCPU: after.cpu,
		BareCPU: before.cpu, P999: -1, Mallocs: -1}, l.requests + 2*len(clients), nil
}

// atRest is what a door without traffic uses.
type atRest struct {
	cpu    time.Duration
	memory int64
}

// rest waits until p has settled, and measures it for d.
func rest(ctx context.Context, p *program, d time.Duration) (atRest, error) {
	if err := wait(ctx, settleTime); err != nil {
		return atRest{}, err
	}
	start, err := cpuOf(p.pid())
	if err != nil {
		return atRest{}, err
	}
	if err := wait(ctx, d); err != nil {
		return atRest{}, err
	}
	end, err := cpuOf(p.pid())
	if err != nil {
		return atRest{}, err
	}
	memory, err := memoryOf(p.pid())
	return atRest{cpu: end - start, memory: memory}, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// dial opens a connection for w.
func dial(ctx context.Context, w Work, addr string) (net.Conn, error) {
	if w.TLS {
		return (&tls.Dialer{Config: clientTLS}).DialContext(ctx, "tcp", addr)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

// request makes a GET of w over c, and leaves it open.
func request(c net.Conn, w Work) error {
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodGet, "http://"+c.RemoteAddr().String()+w.path(), nil)
	if err != nil {
		return err
	}
	if err := req.Write(c); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := w.check(res); err != nil {
		return err
	}
	if res.Close {
		return errors.New("the response closes the connection")
	}
	return nil
}
