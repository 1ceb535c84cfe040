package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weirhq/weir/bench/log"
	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/bench/router"
)

// A target is the project's requirement for a row of Weir in a RESULT line. A negative value means that there is none.
type target struct {
	result, caseName, row string
	peer                  string // the peer of the ratio; empty for the fastest
	ratio, allocs, bytes  float64
}

var targets = []target{
	{"log_three_events", log.ThreeEvents, log.Weir, "", 0.55, 0, 0},
	{"log_ten_fields", log.TenFields, log.Weir, "", 0.75, 0, -1},
	{"log_static", log.Static, log.Weir, "", 0.75, 0, -1},
	{"log_carried_fields", log.Carried, log.Weir, "", 0.75, 0, -1},
	{"log_disabled", log.Disabled, log.Weir, "", 0.40, 0, -1},
	{"log_disabled_asked", log.Asked, log.Weir, "", 0.40, 0, -1},
	{"log_escaped", log.Escaped, log.Weir, "", 0.85, 0, -1},
	{"log_error_stack", log.ErrorStack, log.Weir, "", 0.20, 0, -1},
	{"log_ltsv", log.LTSV, log.Weir, "", 0.58, 0, -1},
	{"log_slog", log.Slog, log.Weir, log.SlogJSON, 0.50, -1, -1},
	{"log_onslog_v2", log.Onslog, log.OnslogV2, log.LogGoV2, -1, 14, 850},
	{"router_github", router.GitHub, router.WeirTable, "", 0.70, 0, -1},
	{"router_github_http", router.GitHubStandard, router.WeirRouter, "", 0.45, 1, -1},
	{"router_github_unread", router.GitHubUnread, router.WeirRouter, router.ServeMux, 0.45, 1, -1},
	{"router_10000_unread", router.Unread10000, router.WeirRouter, router.ServeMux, 0.80, 1, -1},
	{"router_static", router.Static, router.WeirTable, "", 0.80, 0, -1},
	{"router_constrained", router.Constrained, router.WeirTable, "", 0.25, 0, -1},
	{"router_constrained_miss", router.ConstrainedMisses, router.WeirTable, "", 0.30, 0, -1},
	{"router_not_found", router.NotFound, router.WeirTable, "", 0.60, 0, -1},
	{"router_not_allowed", router.NotAllowed, router.WeirTable, "", 0.60, 0, -1},
	{"router_catch_all_10000", router.CatchAll10000, router.WeirTable, "", 1.0, 0, -1},
	{"router_20_params", router.Params20, router.WeirTable, "", 0.70, 0, -1},
	{"router_10000_routes", router.Routes10000, router.WeirTable, "", 0.80, 0, -1},
}

func compareLoggers(ctx context.Context, w io.Writer, s settings) (results []fmt.Stringer, err error) {
	files, err := log.OpenFiles(s.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	cases := s.chosen(append(log.Cases(), files.Case))
	if len(cases) == 0 {
		noneCalled(w, s)
	}
	return measureCases(ctx, w, s, logPlan, cases)
}

func compareRouters(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	cases, build := s.chosen(router.Cases()), s.cases.MatchString(router.Build)
	if len(cases) == 0 && !build {
		noneCalled(w, s)
	}
	results, err := measureCases(ctx, w, s, routerPlan, cases)
	if err != nil || !build {
		return results, err
	}
	built, err := measureBuilding(ctx, w, s)
	return append(results, built...), err
}

// chosen returns the cases whose name matches the flag.
func (s settings) chosen(cases []measure.Case) []measure.Case {
	return slices.DeleteFunc(cases, func(c measure.Case) bool { return !s.cases.MatchString(c.Name) })
}

func noneCalled(w io.Writer, s settings) { fmt.Fprintf(w, "no case here is called %q\n\n", s.cases) }

// The default numbers and durations of passes. There are many router cases, and building has a fixed duration.
var (
	logPlan    = measure.Plan{Passes: 11, PassTime: 100 * time.Millisecond}
	routerPlan = measure.Plan{Passes: 9, PassTime: 60 * time.Millisecond}
	makingPlan = measure.Plan{Passes: 5}
)

// plan returns p with the values of the flags.
func (s settings) plan(p measure.Plan) measure.Plan {
	if s.passes > 0 {
		p.Passes = s.passes
	}
	if s.passTime > 0 {
		p.PassTime = s.passTime
	}
	return p
}

func measureCases(ctx context.Context, w io.Writer, s settings, p measure.Plan, cases []measure.Case) ([]fmt.Stringer,
	error) {
	var results []fmt.Stringer
	for i, c := range cases {
		s.progress.at(fmt.Sprintf("%d of %d, %s", i+1, len(cases), c.Name))
		rows, err := s.plan(p).Measure(ctx, c)
		s.progress.done()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		if err := measure.WriteTable(w, c, rows); err != nil {
			return nil, err
		}
		results = append(results, judge(c, rows)...)
	}
	return results, nil
}

func measureBuilding(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	s.progress.at(router.Build)
	made, err := s.plan(makingPlan).Make(ctx, router.Makings())
	s.progress.done()
	if err != nil {
		return nil, err
	}
	if err := measure.WriteMade(w, router.Build, router.Chi, made); err != nil {
		return nil, err
	}
	return judgeBuilding(made), nil
}

// mostOfChi is the maximum ratio of the time and memory of building to chi's.
const mostOfChi = 1.5

// judgeBuilding returns the result lines of time and memory.
func judgeBuilding(made []measure.Made) []fmt.Stringer {
	time, memory, ok := measure.JudgeMade(made, router.WeirTable, router.Chi)
	if !ok {
		return nil
	}
	verdict := measure.Verdict{Allocs: -1, Bytes: -1, TargetRatio: mostOfChi, TargetAllocs: -1, TargetBytes: -1}
	first, second := verdict, verdict
	first.Name, first.Ratio = "router_build_time", time
	second.Name, second.Ratio = "router_build_memory", memory
	return []fmt.Stringer{first, second}
}

// judge returns the result lines of one case.
func judge(c measure.Case, rows []measure.Measured) []fmt.Stringer {
	var results []fmt.Stringer
	for _, t := range targets {
		if t.caseName != c.Name {
			continue
		}
		v, ok := measure.Judge(rows, t.row, t.peer)
		if !ok {
			continue
		}
		v.Name, v.TargetRatio, v.TargetAllocs, v.TargetBytes = t.result, t.ratio, t.allocs, t.bytes
		if t.bytes < 0 {
			v.Bytes = -1 // only reported if there is a target; the table has all
		}
		results = append(results, v)
	}
	return results
}
