package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weirhq/weir/bench/log"
	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/bench/router"
)

// A target is what the project asks of a row of Weir in a RESULT line. What it does not ask for is negative.
type target struct {
	result, caseName, row string
	peer                  string // the ratio is to this one; empty for the fastest
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
	{"log_onslog_v1", log.Onslog, log.OnslogV1, log.LogGoV1, -1, 14, 850},
	{"log_onslog_v2", log.Onslog, log.OnslogV2, log.LogGoV2, -1, 14, 850},
	{"router_static", router.Static, router.WeirTable, "", -1, 0, -1},
	{"router_github", router.GitHub, router.WeirTable, "", -1, 0, -1},
	{"router_not_found", router.NotFound, router.WeirTable, "", -1, 0, -1},
	{"router_catch_all", router.CatchAll, router.WeirTable, "", -1, 0, -1},
	{"router_constrained", router.Constrained, router.WeirTable, "", -1, 0, -1},
}

func compareLoggers(ctx context.Context, w io.Writer, s settings) (results []fmt.Stringer, err error) {
	files, err := log.OpenFiles(s.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	return measureCases(ctx, w, s, append(log.Cases(), files.Case))
}

func compareRouters(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	cases, err := router.Cases()
	if err != nil {
		return nil, err
	}
	return measureCases(ctx, w, s, cases)
}

func measureCases(ctx context.Context, w io.Writer, s settings, cases []measure.Case) ([]fmt.Stringer, error) {
	plan := measure.Plan{Passes: s.passes, PassTime: s.passTime}
	if plan.Passes == 0 {
		plan.Passes = 11
	}
	cases = slices.DeleteFunc(cases, func(c measure.Case) bool { return !s.cases.MatchString(c.Name) })
	if len(cases) == 0 {
		fmt.Fprintf(w, "no case here is called %q\n\n", s.cases)
	}
	var results []fmt.Stringer
	for _, c := range cases {
		rows, err := plan.Measure(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := measure.WriteTable(w, c, rows); err != nil {
			return nil, err
		}
		results = append(results, judge(c, rows)...)
	}
	return results, nil
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
			v.Bytes = -1 // told where it is asked for; the table has them all
		}
		results = append(results, v)
	}
	return results
}
