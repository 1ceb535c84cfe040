package lab

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/load"
)

// GoodAnswers is the name of a metric that is there when other answers are, too.
const GoodAnswers = "answers of 2xx per second"

// MetricsOf returns [Metrics], and after them what tells how requests of these
// runs were refused and failed, if any were: [GoodAnswers], "answers of 503",
// "failed: timeout". Requests per second count every answer, and a service
// refuses faster than it serves.
func MetricsOf(runs []Run) []Metric {
	all := Metrics()
	codes, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		if r.Load == nil {
			continue
		}
		for code, n := range r.Load.StatusCodes {
			if n > 0 && !strings.HasPrefix(code, "2") {
				codes[code] = true
			}
		}
		for kind, n := range r.Load.Errors {
			if n > 0 {
				kinds[kind] = true
			}
		}
	}
	if len(codes)+len(kinds) == 0 {
		return all
	}
	all = append(all, ofLoad(GoodAnswers, "/s", Higher, func(l *load.Result) float64 {
		return l.RequestsPerSecond * float64(l.Status["2xx"]) / float64(max(l.Requests, 1))
	}))
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		all = append(all, ofLoad("answers of "+code, "", Neither, func(l *load.Result) float64 { return float64(l.StatusCodes[code]) }))
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, ofLoad("failed: "+strings.ReplaceAll(kind, "_", " "), "", Neither, func(l *load.Result) float64 { return float64(l.Errors[kind]) }))
	}
	return all
}

func ofLoad(name, unit string, better Better, of func(*load.Result) float64) Metric {
	return Metric{Name: name, Unit: unit, Better: better, Of: func(r *Run) (float64, bool) {
		if r.Load == nil {
			return 0, false
		}
		return of(r.Load), true
	}}
}
