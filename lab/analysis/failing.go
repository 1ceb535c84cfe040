package analysis

import (
	"fmt"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/results"
)

// A failing counts the failures of a configuration: of whole runs, and of requests in the measured runs.
type failing struct {
	failed, runs  int   // runs in which the service failed, of those that the lab could make
	without, sent int64 // requests without a 2xx response
}

// measured reports whether the values of a run count.
func measured(r *results.Run) bool { return r.Outcome == results.Done || r.Outcome == results.Leaked }

// failuresOf returns the failures of each configuration.
func failuresOf(r *results.Results) map[string]failing {
	all := map[string]failing{}
	for i := range r.Runs {
		run := &r.Runs[i]
		f := all[run.Configuration]
		switch {
		case run.ServiceFailed():
			f.failed++
			f.runs++
		case measured(run):
			f.runs++
			if run.Load != nil {
				f.without += run.Load.Without2xx()
				f.sent += run.Load.Sent
			}
		}
		all[run.Configuration] = f
	}
	return all
}

// manyRefused is the share of requests without a 2xx response that a configuration may have above the baseline's and
// still be better. The requests that were answered are a selection beyond it.
const manyRefused = 0.01

// more returns the reason why a configuration with these failures is not better than one with those of base, or "" if
// it may be. A service that refuses or dies has low costs and latencies.
func (f failing) more(base failing) string {
	if f.runs > 0 && base.runs > 0 && f.failed*base.runs > base.failed*f.runs {
		return fmt.Sprintf("its service failed in %d of %s", f.failed, readable.Things(int64(f.runs), "run"))
	}
	if f.refused() > base.refused()+manyRefused {
		return fmt.Sprintf("%s of its requests had no 2xx response", percent(f.refused()))
	}
	return ""
}

// refused returns the share of the requests without a 2xx response.
func (f failing) refused() float64 { return float64(f.without) / float64(max(1, f.sent)) }
