package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Work is the task of the generators.
type Work struct {
	Name        string
	Connections int
	Pipeline    int     // 0 means 1
	Body        int     // bytes of a POST; 0 means GET
	Rate        float64 // requests per second; 0 means a closed loop
	Duration    time.Duration
	Server      Manner
}

func (w Work) pipeline() int { return max(1, w.Pipeline) }

// A Cost holds the cost and the report of a generator in one pass, together with the server's own observations.
type Cost struct {
	Report
	Tally
	CPU    time.Duration // user and system, of the whole process
	Memory []int64       // resident bytes, ten times per second
}

// PerRequest returns the CPU time per request that the server counted.
func (c Cost) PerRequest() time.Duration { return c.CPU / time.Duration(max(1, c.Requests)) }

// PeakMemory returns the maximum of the resident memory in bytes.
func (c Cost) PeakMemory() int64 {
	if len(c.Memory) == 0 {
		return 0
	}
	return slices.Max(c.Memory)
}

// MemoryGrowth returns the growth of the maximum resident memory, from the end of the first third to the last tenth of
// the pass, in bytes.
func (c Cost) MemoryGrowth() int64 {
	n := len(c.Memory)
	if n < 30 {
		return 0
	}
	return slices.Max(c.Memory[n-n/10:]) - slices.Max(c.Memory[n/3-n/10:n/3])
}

// A Bench runs generators against a server. It must be closed.
type Bench struct {
	Tools Tools
	Dir   string // folder for its files

	work                 Work
	host                 *host
	generator, processor int
	files                files
}

// files are the inputs of the generators.
type files struct{ dir, body, script, targets, results string }

// Open starts the server for w.
func (b *Bench) Open(w Work) (err error) {
	if b.generator, b.processor, err = Processors(); err != nil {
		return err
	}
	b.work = w
	if b.files.dir, err = os.MkdirTemp(b.Dir, "weir-bench-load-"); err != nil {
		return err
	}
	if b.host, err = startHost(b.Tools.Row, b.processor, w.Server); err != nil {
		return errors.Join(err, os.RemoveAll(b.files.dir))
	}
	if err := b.files.write(w, b.host.address); err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

// Close stops the server and removes the files.
func (b *Bench) Close() error { return errors.Join(b.host.stop(), os.RemoveAll(b.files.dir)) }

// pipelineScript makes wrk send the number of pipelined requests in its argument, as in wrk's own example.
const pipelineScript = `init = function(args)
   local r = {}
   for i = 1, tonumber(args[1]) do r[i] = wrk.format() end
   req = table.concat(r)
end
request = function() return req end
`

// postScript makes wrk send the file named by its argument.
const postScript = `init = function(args)
   local f = io.open(args[1], "rb")
   wrk.method = "POST"
   wrk.body = f:read("*a")
   f:close()
   req = wrk.format()
end
request = function() return req end
`

func (f *files) write(w Work, address string) error {
	f.body, f.script = filepath.Join(f.dir, "body"), filepath.Join(f.dir, "script.lua")
	f.targets, f.results = filepath.Join(f.dir, "targets"), filepath.Join(f.dir, "results")
	script := pipelineScript
	if w.Body > 0 {
		script = postScript
	}
	return errors.Join(
		os.WriteFile(f.body, []byte(strings.Repeat("weir ", w.Body/5+1)[:w.Body]), 0o600),
		os.WriteFile(f.script, []byte(script), 0o600),
		os.WriteFile(f.targets, []byte("GET http://"+address+"/\n"), 0o600))
}

// Pass runs g once.
func (b *Bench) Pass(ctx context.Context, g Generator) (Cost, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*b.work.Duration+30*time.Second)
	defer cancel()
	if err := b.settle(ctx); err != nil {
		return Cost{}, err
	}
	c := call{Work: b.work, files: b.files, program: g.program(b.Tools), address: b.host.address}
	u, err := runOn(ctx, b.generator, g.args(c))
	if err != nil {
		return Cost{}, err
	}
	cost := Cost{Report: silent(), CPU: u.cpu, Memory: u.memory}
	if cost.Tally, err = b.host.reset(); err != nil {
		return Cost{}, err
	}
	if cost.Requests == 0 || cost.Cut > 0 {
		return Cost{}, fmt.Errorf(
			"the server counted %d requests, and cut off %d connections that did not read responses",
			cost.Requests, cost.Cut)
	}
	if g.read != nil {
		cost.Report, err = g.read(ctx, c, u.output)
	}
	return cost, err
}

// settle sends the server one request and resets it, after all activity of the last generator has ended.
func (b *Bench) settle(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.host.address+"/", nil)
	if err != nil {
		return err
	}
	req.Close = true
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	_, err = b.host.reset()
	return err
}
