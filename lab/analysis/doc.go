// Package analysis says what to make of an experiment's results: which of the
// differences between its configurations are more than noise, how large they
// are, and how sure that is.
//
// A run is one value of each metric, however many requests it made. The median
// of a configuration's runs and its 95% interval, and the p of a difference, are
// those of golang.org/x/perf/benchmath with AssumeNothing (order statistics and
// the Mann-Whitney U test), which is to say those of benchstat.
//
// Each configuration is compared with the baseline. The more results there are, the more of them seem to differ by
// chance. So every p that can make a sentence is corrected by Holm's method (S. Holm, A simple sequentially rejective
// multiple test procedure, Scandinavian Journal of Statistics 6, 1979), which holds for results that depend on each
// other. There are two families, see [Family]:
//
//   - The metrics that lead, in all configurations. They are chosen before any value is seen: by the experiment, else
//     by the kind of load. The runs' own measures lead where nothing else does, as with benchmarks.
//   - All other metrics.
//
// The first family keeps the power that it would have without the other. Of the pages of experiments in which nothing
// differs, at most 5% have a sentence that says that something does; TestFalseSentences checks it.
//
// The baseline takes part twice, and what lies between it and its twin is noise
// for certain. A configuration that is no farther from either of them than they
// are from each other is within the noise whatever its p is; of two that are the
// same, the test alone would tell one pair in twenty apart, and this halves it.
//
// The two sides of [Compare] did not run by turns. Where a metric changes with time while one side runs, each side
// counts as one run of it.
//
// No run is dropped. Those that were not measured (see [lab.Outcome]) have no
// values and are counted; outliers are marked and take part.
package analysis
