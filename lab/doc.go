// Package lab measures the cost of a setting of a service. It starts the
// service in each of several configurations many times, loads and watches it,
// and reports which differences are more than noise.
//
// The input is an [experiment.Experiment] and the output is [results.Results]:
//
//	e, err := experiment.Parse("experiment.yaml", text)
//	r, err := lab.Run(ctx, e, lab.Options{Dir: "out"})
//	a := analysis.Of(r)
//	err = report.Write("out", r, a)
//
// A service that already runs is only loaded and watched, see [experiment.Service.Running].
//
// A run is one start of the service in one configuration, with warm-up and
// load. It is the unit of all statistics: the requests of one run share its
// time, its memory layout and the other load of the machine, and a test on
// requests would find differences that do not exist. Runs are interleaved and
// shuffled, so a machine that drifts affects every configuration alike. The
// baseline takes part twice, and the difference between the two is the noise.
package lab
