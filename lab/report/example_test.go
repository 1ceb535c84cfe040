package report_test

import (
	"os"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

func ExampleText() {
	r := &results.Results{Title: "What does a file cost?", Lead: []string{"requests per second"}}
	for i, name := range []string{"output=null", "output=file"} {
		r.Configurations = append(r.Configurations, results.Configuration{Name: name, Baseline: i == 0})
		for repeat := range 10 {
			r.Runs = append(r.Runs, results.Run{
				Number: len(r.Runs) + 1, Configuration: name, Repeat: repeat + 1, Outcome: results.Done,
				Load: &load.Result{RequestsPerSecond: 50_000 - 10_000*float64(i) + 10*float64(repeat*3%10),
					Requests: 1000, Sent: 1000,
					Status: map[string]int64{"2xx": 1000}, Latency: &load.Latency{Count: 1000, P50: 120, P99: 900}},
			})
		}
	}
	if err := report.Text(os.Stdout, r, analysis.Of(r), "", report.Style{Width: 80}); err != nil {
		panic(err)
	}
	// Output:
	// What does a file cost?
	//
	// - With output=file, requests per second are 20% lower than with output=null:
	//   40,045/s instead of 50,045/s (95% interval of the ratio 0.800 to 0.800, 10
	//   runs each).
	//
	//                      requests                          against
	//                           per   against the  latency       the  latency
	// configuration  runs    second      baseline      p50  baseline      p99
	// output=null      10  50,045/s      baseline   120 us  baseline   900 us
	// output=file      10  40,045/s  -20.0% worse   120 us  the same   900 us
}
