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
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Cost is the result of a door in one pass.
type Cost struct {
	CPU            time.Duration // user and system, per request
	PerSecond      float64
	P50, P99, P999 time.Duration // P999 is negative if the load does not report it
	Mallocs        float64       // per request; negative if the door does not report it
	Lost           float64       // percentage of log lines that the door dropped
	Failed         float64       // percentage of requests without a response, at a fixed rate
	LogBytes       float64       // of the log's file, per request; 0 without a file

	// Of a Work with Idle, which has no other figures but Lost.
	Memory  float64       // private, in bytes per connection
	IdleCPU time.Duration // of the door while the connections were idle
	BareCPU time.Duration // of the door in the same time without any connection
}

// A Bench holds the backend for the doors. It must be closed.
type Bench struct {
	Tools Tools
	Dir   string // folder for the folders of the passes

	backend   *program
	dir       string
	port      int
	cert, key string // files of the doors with TLS
}

// Open starts the backend.
func (b *Bench) Open(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.Dir, "weir-bench-")
	if err != nil {
		return err
	}
	b.dir = dir
	if err := os.Mkdir(filepath.Join(dir, responsesDir), 0o755); err != nil {
		return errors.Join(err, b.Close())
	}
	if b.cert, b.key, err = writeCertificate(dir); err != nil {
		return errors.Join(err, b.Close())
	}
	ports, err := freePorts(1)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	b.port = ports[0]
	s := site{dir: dir, port: b.port}
	c, err := backend(b.Tools, s)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	b.backend, err = launch(ctx, "backend", c, s, Work{})
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

// launch starts c and waits until it responds correctly to a request of w.
func launch(ctx context.Context, name string, c command, s site, w Work) (*program, error) {
	p, err := start(name, c, s.dir)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx, s.origin(), w); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// mostLost is the percentage of its lines that a door may drop. With more, its cost is not comparable.
const mostLost = 5

// Pass starts the door, loads it, stops it and removes its log.
func (b *Bench) Pass(ctx context.Context, d Door, w Work) (cost Cost, err error) {
	s, err := b.site(d, w)
	if err != nil {
		return Cost{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	c, err := d.command(b.Tools, s)
	if err != nil {
		return Cost{}, err
	}
	lines, err := openLog(&c, s)
	if err != nil {
		return Cost{}, err
	}
	if err := b.provide(w); err != nil {
		return Cost{}, err
	}
	p, err := launch(ctx, "door", c, s, w)
	if c.stdout != nil {
		c.stdout.Close() // the door has its own
	}
	if err != nil {
		return Cost{}, err
	}
	var requests int
	switch {
	case w.Idle:
		cost, requests, err = b.measureIdle(ctx, w, p, s)
	default:
		cost, requests, err = b.measure(ctx, d, w, p, s)
	}
	p.stop()
	if err != nil || d.Lines == 0 || w.Log == Off || w.Handshakes {
		return cost, err
	}
	got, err := lines()
	if err != nil {
		return Cost{}, err
	}
	if info, err := os.Stat(s.log); err == nil {
		cost.LogBytes = float64(info.Size()) / float64(requests)
	}
	want := d.Lines * requests
	cost.Lost = 100 * max(0, float64(want-got)) / float64(want)
	if cost.Lost > mostLost || cost.Lost > 0 && !d.lossy {
		return Cost{}, fmt.Errorf("the log holds %d lines, want at least %d for %d requests", got, want, requests)
	}
	return cost, nil
}

func (b *Bench) site(d Door, w Work) (site, error) {
	ports, err := freePorts(2)
	if err != nil {
		return site{}, err
	}
	dir, err := os.MkdirTemp(b.dir, "pass-")
	s := site{dir: dir, port: ports[0], figures: ports[1], upstream: b.port, level: d.level, events: d.events,
		engine: d.engine, route: d.route, work: w, cert: b.cert, key: b.key, files: b.dir}
	switch {
	case d.null:
		s.log = os.DevNull
	case w.Log == Off:
		s.log = noLog
	case w.Log == ToPipe:
		s.log = stdout
	default:
		s.log = s.file("events.log")
	}
	return s, err
}

// provide writes the files that the backend and the load need for w.
func (b *Bench) provide(w Work) error {
	files := map[string]string{}
	if w.Response > 0 {
		files[filepath.Join(responsesDir, strconv.Itoa(w.Response))] = body(w.Response)
	}
	if script := w.script(); script != "" {
		files[wrkScript] = script
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// openLog connects the command's stdout to its log if it logs there. It returns a function that counts the log's lines.
// Call it after the command has ended.
func openLog(c *command, s site) (lines func() (int, error), err error) {
	switch s.log {
	case stdout:
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		c.stdout = w
		counted := make(chan error, 1)
		n := 0
		go func() {
			defer r.Close()
			var err error
			n, err = countLines(r)
			counted <- err
		}()
		return func() (int, error) { err := <-counted; return n, err }, nil
	case noLog:
		return nil, nil
	}
	if c.logsToStdout {
		c.stdout, err = os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	}
	return func() (int, error) {
		f, err := os.Open(s.log)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		return countLines(f)
	}, err
}

// measure returns the cost and the total number of requests.
func (b *Bench) measure(ctx context.Context, d Door, w Work, p *program, s site) (Cost, int, error) {
	origin := s.origin()
	warm, err := b.load(ctx, origin, w, time.Second)
	if err != nil {
		return Cost{}, 0, err
	}
	before, err := read(ctx, d, p, s)
	if err != nil {
		return Cost{}, 0, err
	}
	l, err := b.load(ctx, origin, w, w.Load)
	if err != nil {
		return Cost{}, 0, err
	}
	after, err := read(ctx, d, p, s)
	if err != nil {
		return Cost{}, 0, err
	}
	cost := Cost{CPU: (after.cpu - before.cpu) / time.Duration(l.requests), PerSecond: l.perSecond, P50: l.p50,
		P99: l.p99, P999: l.p999, Mallocs: -1, Failed: 100 * float64(l.failed) / float64(l.requests+l.failed)}
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
