package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// A Stand is a door that runs in front of the backend for a load that someone else makes. It must be closed.
type Stand struct {
	bench    *Bench
	site     site
	door     *program
	perEvent int
	lines    func() (int, error)

	requests int           // that the backend got before
	cpu      time.Duration // that the door used before
}

// Stand starts d at a port of the loopback interface, with its log in a file. b must be open.
func (b *Bench) Stand(ctx context.Context, d Door, port int) (*Stand, error) {
	site, err := b.site(d, Work{Connections: 64, Log: ToFile})
	if err != nil {
		return nil, err
	}
	s := &Stand{bench: b, site: site, perEvent: d.Lines}
	s.site.port = port
	if err := s.open(ctx, d); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stand) open(ctx context.Context, d Door) error {
	c, err := d.command(s.bench.Tools, s.site)
	if err != nil {
		return err
	}
	if s.lines, err = openLog(&c, s.site); err != nil {
		return err
	}
	if c.stdout != nil {
		defer c.stdout.Close() // the door has its own
	}
	if s.door, err = launch(ctx, "door", c, s.site, s.site.work); err != nil {
		return err
	}
	if s.cpu, err = cpuOf(s.door.pid()); err != nil {
		return err
	}
	s.requests, err = s.bench.requests(ctx)
	return err
}

// Ended is closed when the door has ended by itself.
func (s *Stand) Ended() <-chan struct{} { return s.door.ended }

// A Bill is what a door has cost from its start to its end.
type Bill struct {
	CPU  time.Duration // user and system, per request
	Lost int           // lines that its log lacks
}

// End ends the door and returns what it has cost. There is no bill if there was no request.
func (s *Stand) End(ctx context.Context) (*Bill, error) {
	cpu, err := cpuOf(s.door.pid())
	if err != nil {
		return nil, fmt.Errorf("the door has ended: %s", s.door.lastWords())
	}
	all, err := s.bench.requests(ctx)
	if err != nil {
		return nil, err
	}
	s.door.stop()
	n := all - s.requests - 1 // the question itself
	if n <= 0 {
		return nil, nil
	}
	lines, err := s.lines()
	return &Bill{CPU: (cpu - s.cpu) / time.Duration(n), Lost: max(0, s.perEvent*n-lines)}, err
}

// Close ends the door, if it runs, and removes its files.
func (s *Stand) Close() error {
	if s.door != nil {
		s.door.stop()
	}
	return os.RemoveAll(s.site.dir)
}

// requestsPath is the path of the backend's own figures.
const requestsPath = "/figures"

// requests returns the number of requests that the backend has got, with this one.
func (b *Bench) requests(ctx context.Context) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local(b.port)+requestsPath, nil)
	if err != nil {
		return 0, err
	}
	req.Close = true
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var active, accepted, handled, n int
	_, err = fmt.Fscanf(res.Body, "Active connections: %d\nserver accepts handled requests\n%d %d %d", &active, &accepted, &handled, &n)
	return n, err
}
