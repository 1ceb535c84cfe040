package analysis_test

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// exampleResults returns ten runs of each of two configurations, of which the
// second responses about 20% fewer requests per second.
func exampleResults() *results.Results {
	r := &results.Results{Name: "output", Lead: []string{"requests per second"}, Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	for i, name := range []string{"output=null", "output=file"} {
		r.Configurations = append(r.Configurations, results.Configuration{Name: name, Baseline: i == 0})
		for repeat := range 10 {
			rate := 50_000 - 10_000*float64(i) + 10*float64(repeat*repeat%7)
			r.Runs = append(r.Runs, results.Run{
				Number: len(r.Runs) + 1, Configuration: name, Repeat: repeat + 1, Outcome: results.Done,
				Load: &load.Result{RequestsPerSecond: rate, Requests: 1000, Sent: 1000,
					Status: map[string]int64{"2xx": 1000}, Latency: &load.Latency{}},
			})
		}
	}
	return r
}

func ExampleOf() {
	a := analysis.Of(exampleResults())
	for _, f := range a.Findings {
		fmt.Println(f.Text)
	}
	row := a.Metric("requests per second").Row("output=file")
	fmt.Printf("median %s, p %.2g, %s\n", analysis.Quantity(row.Median, "/s"), *row.Versus.P, row.Versus.Verdict)
	// Output:
	// With output=file, requests per second are 20% lower than with output=null: 40,015/s instead of 50,015/s (95% interval of the ratio 0.800 to 0.800, 10 runs each).
	// median 40,015/s, p 0.002, worse
}

func ExampleCompare() {
	before, after := exampleResults(), exampleResults()
	for i := range after.Runs {
		after.Runs[i].Load.RequestsPerSecond *= 1.1
	}
	for _, f := range analysis.Compare(before, after).Findings {
		fmt.Println(f.Text)
	}
	// Output:
	// output=null: requests per second are 10% higher in B: 55,017/s in B and 50,015/s in A (95% interval of the ratio 1.100 to 1.10, 10 and 10 runs).
	// output=file: requests per second are 10% higher in B: 44,017/s in B and 40,015/s in A (95% interval of the ratio 1.099 to 1.10, 10 and 10 runs).
}
