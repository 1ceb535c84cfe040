package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Cost is the result of a door in one pass.
type Cost struct {
	CPU       time.Duration // user and system, per request
	PerSecond float64
	P50, P99  time.Duration
	Mallocs   float64 // per request; negative if the door does not report it
}

// A Bench holds the backend and the load for the doors. It must be closed.
type Bench struct {
	Tools       Tools
	Connections int
	Load        time.Duration // of a measured pass, after a second of warm-up
	Dir         string        // folder for the folders of the passes

	backend *program
	dir     string
	port    int
}

// Open starts the backend.
func (b *Bench) Open(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.Dir, "weir-bench-")
	if err != nil {
		return err
	}
	b.dir = dir
	ports, err := freePorts(1)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	b.port = ports[0]
	b.backend, err = launch(ctx, "backend", b.Tools, site{dir: dir, port: b.port}, backend)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

// Close stops the backend and removes its files.
func (b *Bench) Close() error {
	if b.backend != nil {
		b.backend.stop()
	}
	return os.RemoveAll(b.dir)
}

// launch starts the program that command returns for the site, and waits until it responds.
func launch(ctx context.Context, name string, t Tools, s site, command func(Tools, site) (command, error)) (*program,
	error) {
	c, err := command(t, s)
	if err != nil {
		return nil, err
	}
	p, err := start(name, c, s.dir)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx, "http://"+local(s.port)+"/", bodySize); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// Pass starts the door, loads it, stops it and removes its log.
func (b *Bench) Pass(ctx context.Context, d Door) (cost Cost, err error) {
	s, err := b.site(d)
	if err != nil {
		return Cost{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	p, err := launch(ctx, "door", b.Tools, s, d.command)
	if err != nil {
		return Cost{}, err
	}
	cost, requests, err := b.measure(ctx, d, p, s)
	p.stop()
	if err != nil {
		return Cost{}, err
	}
	return cost, checkLog(s.log, d.Lines, requests)
}

func (b *Bench) site(d Door) (site, error) {
	ports, err := freePorts(2)
	if err != nil {
		return site{}, err
	}
	dir, err := os.MkdirTemp(b.dir, "pass-")
	s := site{dir: dir, port: ports[0], figures: ports[1], upstream: b.port, log: d.log, level: d.level}
	if s.log == "" {
		s.log = s.file("events.log")
	}
	return s, err
}

// measure returns the cost and the total number of requests.
func (b *Bench) measure(ctx context.Context, d Door, p *program, s site) (Cost, int, error) {
	url := "http://" + local(s.port) + "/economy/bulletins/september2026?page=2"
	warm, err := runLoad(ctx, url, b.Connections, time.Second)
	if err != nil {
		return Cost{}, 0, err
	}
	before, err := read(ctx, d, p, s)
	if err != nil {
		return Cost{}, 0, err
	}
	l, err := runLoad(ctx, url, b.Connections, b.Load)
	if err != nil {
		return Cost{}, 0, err
	}
	after, err := read(ctx, d, p, s)
	if err != nil {
		return Cost{}, 0, err
	}
	cost := Cost{CPU: (after.cpu - before.cpu) / time.Duration(l.requests), PerSecond: l.perSecond, P50: l.p50,
		P99: l.p99, Mallocs: -1}
	if d.mallocs != "" {
		cost.Mallocs = (after.mallocs - before.mallocs) / float64(l.requests)
	}
	return cost, warm.requests + l.requests, nil
}

// meters are the counters of a running door.
type meters struct {
	cpu     time.Duration
	mallocs float64
}

func read(ctx context.Context, d Door, p *program, s site) (meters, error) {
	cpu, err := cpuOf(p.pid())
	if err != nil || d.mallocs == "" {
		return meters{cpu: cpu}, err
	}
	mallocs, err := readMallocs(ctx, "http://"+local(s.figures)+d.mallocs)
	return meters{cpu: cpu, mallocs: mallocs}, err
}

// readMallocs reads the count of allocations from a page of Prometheus metrics.
func readMallocs(ctx context.Context, url string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	req.Close = true // no connection of ours stays open while the door is loaded
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "go_memstats_mallocs_total "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%s has no go_memstats_mallocs_total", url)
}

// checkLog checks that the log has the lines of every request: the result of a door that loses lines is invalid.
func checkLog(file string, lines, requests int) error {
	if lines == 0 {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := countLines(f)
	if err != nil {
		return err
	}
	if want := lines * requests; got < want {
		return fmt.Errorf("the log holds %d lines, want at least %d for %d requests", got, want, requests)
	}
	return nil
}

func countLines(r io.Reader) (int, error) {
	buf := make([]byte, 1<<20)
	for lines := 0; ; {
		n, err := r.Read(buf)
		lines += bytes.Count(buf[:n], []byte("\n"))
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

// freePorts returns ports of the loopback interface that are currently unused.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // after all are chosen, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
