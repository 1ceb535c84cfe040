package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/bench/load"
)

// A loadCase is a table of the comparison of load generators.
type loadCase struct {
	load.Work
	result string   // its name in result lines
	only   []string // the rows; if empty, all that support the work
	fixed  bool     // has a fixed duration, with one pass per peer
	table  func(w io.Writer, c loadCase, rows []loadRow) error
	judge  func(c loadCase, rows []loadRow) []fmt.Stringer
}

const (
	loadPasses  = 5
	loadTime    = 2 * time.Second
	openPasses  = 3 // of Weir, in the longer cases
	openTime    = 10 * time.Second
	stallTime   = 30 * time.Second
	memoryTime  = time.Minute
	stallRate   = 2000
	stallAnswer = 5 * time.Millisecond
)

var fewPeers = []string{load.Base, load.Weir, load.Wrk, load.AB, "h2load"}

var loadCases = []loadCase{
	{Work: load.Work{Name: "load: 64 connections", Connections: 64}, result: "load_64", table: writeCosts,
		judge: judgeFloor(1.15)},
	{Work: load.Work{Name: "load: 1,000 connections", Connections: 1000}, result: "load_1000", table: writeCosts,
		judge: judgeFloor(1.15)},
	{Work: load.Work{Name: "load: 64 connections, pipelining 12", Connections: 64, Pipeline: 12},
		result: "load_pipeline", table: writeCosts, judge: judgeFloor(1.30)},
	{Work: load.Work{Name: "load: 10,000 connections", Connections: 10_000, Duration: 5 * time.Second},
		result: "load_10000", only: fewPeers, table: writeCosts, judge: judgeMany},
	{Work: load.Work{Name: "load: POST of 50 KB, 64 connections", Connections: 64, Body: 50_000},
		result: "load_post_50k", table: writeCosts, judge: judgePosts},
	{Work: load.Work{Name: "load: POST of 1 MB, 64 connections", Connections: 64, Body: 1_000_000},
		result: "load_post_1m", table: writeCosts, judge: judgePosts},
	openCase("load: open loop, 10,000/s", "load_open_10000", 10_000),
	openCase("load: open loop, 30,000/s", "load_open_30000", 30_000),
	{
		Work: load.Work{
			Name: "load: a server that stalls 1 s in every 10, open loop, 2,000/s", Connections: 64,
			Rate: stallRate, Duration: stallTime,
			Server: load.Manner{Delay: stallAnswer, Stall: time.Second, Every: 10 * time.Second, Rate: stallRate},
		},
		result: "load_stall", fixed: true, table: writeTruth, judge: judgeTruth,
	},
	{
		Work: load.Work{Name: "load: memory over a minute at full speed, 1,000 connections", Connections: 1000,
			Duration: memoryTime},
		result: "load_memory", fixed: true, only: []string{load.Weir, load.Wrk}, table: writeMemory, judge: judgeMemory,
	},
}

func openCase(name, result string, rate float64) loadCase {
	return loadCase{
		Work: load.Work{Name: name, Connections: 64, Rate: rate, Duration: openTime,
			Server: load.Manner{Arrivals: true}},
		result: result, fixed: true, table: writePaces, judge: judgePace,
	}
}

// compareLoads runs every generator on this machine, interleaved.
func compareLoads(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	dir, err := os.MkdirTemp("", "weir-bench-tools-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tools, err := loadTools(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "programs: %s\n", strings.Join(loadVersions(ctx, tools), ", "))
	for _, g := range load.Generators {
		if install := g.Missing(tools); install != "" {
			fmt.Fprintf(w, "no row for %s; install it in the repository's root with: %s\n", g.Name, install)
		}
	}
	fmt.Fprintln(w)
	var results []fmt.Stringer
	cases := slices.DeleteFunc(slices.Clone(loadCases), func(c loadCase) bool { return !s.cases.MatchString(c.Name) })
	if len(cases) == 0 {
		noneCalled(w, s)
	}
	for _, c := range cases {
		c.Duration = s.durationOf(c)
		rows, err := s.runLoads(ctx, c, tools)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		if err := c.table(w, c, rows); err != nil {
			return nil, err
		}
		results = append(results, c.judge(c, rows)...)
	}
	return results, nil
}

// loadTools builds the programs of this repository in dir.
func loadTools(ctx context.Context, s settings, dir string) (load.Tools, error) {
	t := load.Tools{Row: filepath.Join(dir, "loadrow"), Weir: s.weir, Dir: s.peers}
	if err := goTool(ctx, "build", "-o", t.Row, "github.com/weirhq/weir/bench/cmd/loadrow"); err != nil {
		return t, err
	}
	if t.Weir != "" {
		return t, nil
	}
	var err error
	t.Weir, err = buildWeir(ctx, filepath.Join(dir, "weir"))
	return t, err
}

// runLoads measures pass by pass in a rotating order.
func (s settings) runLoads(ctx context.Context, c loadCase, tools load.Tools) (rows []loadRow, err error) {
	for _, g := range load.Generators {
		if g.Missing(tools) == "" && g.Can(c.Work) && (len(c.only) == 0 || slices.Contains(c.only, g.Name)) {
			rows = append(rows, loadRow{Generator: g})
		}
	}
	bench := &load.Bench{Tools: tools, Dir: s.dir}
	if err := bench.Open(c.Work); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bench.Close()) }()
	for pass := range s.passesOf(c) {
		for k := range rows {
			row := &rows[(k+pass)%len(rows)]
			if c.fixed && pass > 0 && row.Kind == load.Peer {
				continue
			}
			s.progress.at(fmt.Sprintf("%s, pass %d, %s", c.Name, pass+1, row.Name))
			cost, err := bench.Pass(ctx, row.Generator)
			s.progress.done()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			row.add(cost, err)
		}
	}
	for _, row := range rows {
		if row.Kind != load.Peer && len(row.costs) == 0 {
			return nil, fmt.Errorf("%s: %w", row.Name, row.failed)
		}
	}
	return rows, nil
}

func (s settings) durationOf(c loadCase) time.Duration {
	return cmp.Or(s.loadTime, c.Duration, loadTime)
}

func (s settings) passesOf(c loadCase) int {
	switch {
	case c.Duration >= memoryTime:
		return 1
	case s.passes > 0:
		return s.passes
	case c.fixed:
		return openPasses
	}
	return loadPasses
}
