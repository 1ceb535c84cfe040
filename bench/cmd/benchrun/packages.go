package main

import (
	"context"
	"fmt"
	"io"

	"github.com/weirhq/weir/bench/log"
	"github.com/weirhq/weir/bench/measure"
	"github.com/weirhq/weir/bench/router"
)

// A target names a row of Weir that stands in a RESULT line. What is not asked for is negative.
type target struct {
	result, caseName, row string
	ratio, allocs         float64
}

var targets = []target{
	{"log_three_events", log.ThreeEvents, log.Weir, -1, 0},
	{"log_ten_fields", log.TenFields, log.Weir, -1, 0},
	{"log_disabled", log.Disabled, log.Weir, -1, 0},
	{"router_static", router.Static, router.WeirTable, -1, 0},
	{"router_github", router.GitHub, router.WeirTable, -1, 0},
	{"router_not_found", router.NotFound, router.WeirTable, -1, 0},
	{"router_catch_all", router.CatchAll, router.WeirTable, -1, 0},
	{"router_constrained", router.Constrained, router.WeirTable, -1, 0},
}

func compareLoggers(ctx context.Context, w io.Writer, s settings) ([]fmt.Stringer, error) {
	return measureCases(ctx, w, s, log.Cases())
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
		v, ok := measure.Judge(rows, t.row)
		if !ok {
			continue
		}
		v.Name, v.TargetRatio, v.TargetAllocs = t.result, t.ratio, t.allocs
		results = append(results, v)
	}
	return results
}
