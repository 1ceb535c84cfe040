// Package analysis evaluates the results of an experiment: it decides which
// differences between configurations are more than noise, and estimates how
// large and how certain they are.
//
// A run is one value of each metric, however many requests it made. The median of a
// configuration's runs with its 95% interval, and the p of a difference, come from
// golang.org/x/perf/benchmath with AssumeNothing (order statistics and the Mann-Whitney
// U test). They are the same as in benchstat.
//
// Each configuration is compared with the baseline. The more results there are,
// the more of them seem to differ by chance. So every p that can lead to a
// finding is corrected by Holm's method (S. Holm, A simple sequentially
// rejective multiple test procedure, Scandinavian Journal of Statistics 6,
// 1979), which is valid for results that depend on each other. There are two
// families, see [Family]:
//
//   - The leading metrics, in all configurations. They are chosen before any value is seen: by the experiment, or else
//     by the kind of load. The runs' own measures lead if no other metric does, as for benchmarks.
//   - All other metrics.
//
// The first family has the same power as without the second. Of the pages of
// experiments in which nothing differs, at most 5% have a sentence that reports
// a difference; TestFalseSentences checks it.
//
// The baseline takes part twice. Any difference between it and its twin is
// noise. A configuration that is no farther from either of them than they are
// from each other is within the noise, whatever its p is. If two configurations
// are the same, the test without this rule would report a difference in one of
// twenty cases; the rule halves that.
//
// The two sides of [Compare] did not run in turn. If a metric changes with time
// while one side runs, each side counts as one run of it.
//
// No run is dropped. Runs that were not measured (see [results.Outcome]) have no
// values and are counted. Outliers are marked and take part.
package analysis
