// Package lab measures what a setting costs a service: it starts the service in
// each of several configurations, again and again, loads it, watches it, and
// says which differences are more than noise.
//
// An [Experiment] goes in and [Results] come out:
//
//	e, err := lab.Parse("experiment.yaml", text)
//	r, err := e.Run(ctx, lab.Options{Dir: "out"})
//	a := analysis.Of(r)
//	err = report.Write("out", r, a)
//
// A run is one start of the service in one configuration, with warm-up and
// load, and it is the unit of everything that is said afterwards: the requests
// of one run share its moment, its memory layout and its neighbours, and a test
// on them would find differences that are none. Runs are interleaved and
// shuffled, so that a machine that drifts hits every configuration alike, and
// the baseline takes part twice: how far these two are apart is the noise.
package lab
