package main

import (
	"fmt"
	"math"

	"github.com/weirhq/weir/bench/load"
	"github.com/weirhq/weir/bench/measure"
)

// A figure is a result that is not a ratio, with its maximum.
type figure struct {
	name          string
	value, target float64
}

// String returns the line, as in "RESULT load_open_10000_variance value=0.81 target=2 ok".
func (f figure) String() string {
	verdict := "missed"
	if f.value <= f.target { // false for NaN
		verdict = "ok"
	}
	return fmt.Sprintf("RESULT %s value=%.4g target=%g %s", f.name, f.value, f.target, verdict)
}

func ratioOf(name string, ratio, target float64) fmt.Stringer {
	return measure.Verdict{Name: name, Ratio: ratio, Allocs: -1, Bytes: -1, TargetRatio: target, TargetAllocs: -1,
		TargetBytes: -1}
}

// cpuTo returns the ratio of Weir's CPU time to another row's, or nil without such a row.
func cpuTo(name string, rows []loadRow, other string, target float64) []fmt.Stringer {
	weir, peer := findLoad(rows, load.Weir), findLoad(rows, other)
	if weir == nil || peer == nil {
		return nil
	}
	return []fmt.Stringer{ratioOf(name, weir.median(perRequest)/peer.median(perRequest), target)}
}

func judgeFloor(target float64) func(loadCase, []loadRow) []fmt.Stringer {
	return func(c loadCase, rows []loadRow) []fmt.Stringer {
		return append(cpuTo(c.result+"_to_floor", rows, load.Base, target), cpuTo(c.result+"_vs_wrk",
			rows, load.Wrk, 1)...)
	}
}

// judgeMany requires that no request fails, and at least as many requests per second as wrk.
func judgeMany(c loadCase, rows []loadRow) []fmt.Stringer {
	weir := findLoad(rows, load.Weir)
	if weir == nil {
		return nil
	}
	results := []fmt.Stringer{figure{c.result + "_failed", weir.worst(failures), 0}}
	if wrk := findLoad(rows, load.Wrk); wrk != nil {
		results = append(results, ratioOf(c.result+"_wrk_rate_to_weir",
			wrk.median(perSecond)/weir.median(perSecond), 1))
	}
	return append(results, cpuTo(c.result+"_vs_wrk", rows, load.Wrk, -1)...)
}

func judgePosts(c loadCase, rows []loadRow) []fmt.Stringer {
	return append(cpuTo(c.result+"_vs_wrk", rows, load.Wrk, 1), cpuTo(c.result+"_vs_ab", rows, load.AB, 1)...)
}

func judgePace(c loadCase, rows []loadRow) []fmt.Stringer {
	weir := findLoad(rows, load.Weir)
	if weir == nil {
		return nil
	}
	return []fmt.Stringer{
		figure{c.result + "_rate_off_percent", weir.median(rateOff(c.Rate)), 0.1},
		figure{c.result + "_variance", weir.median(seenVariance(c.Rate)), 2},
		figure{c.result + "_variance_told", weir.median(toldVariance), 2},
		figure{c.result + "_lag_p99_us", weir.median(lag99), 100},
	}
}

// judgeTruth compares Weir's figures with those of the server in the same pass.
func judgeTruth(c loadCase, rows []loadRow) []fmt.Stringer {
	weir := findLoad(rows, load.Weir)
	if weir == nil {
		return nil
	}
	var results []fmt.Stringer
	for _, q := range quantiles {
		off := weir.median(func(c load.Cost) float64 {
			truth := float64(q.truth(c.Truth))
			return 100 * math.Abs(float64(q.told(c.Report))-truth) / truth
		})
		results = append(results, figure{c.result + "_" + q.name + "_off_percent", off, 2})
	}
	return results
}

func judgeMemory(c loadCase, rows []loadRow) []fmt.Stringer {
	weir := findLoad(rows, load.Weir)
	if weir == nil {
		return nil
	}
	return []fmt.Stringer{
		figure{c.result + "_mb", weir.median(peakMB), 40},
		figure{c.result + "_growth_mb", weir.median(growthMB), 1},
	}
}
