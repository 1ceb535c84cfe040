// Package analysis says what to make of an experiment's results: which of the
// differences between its configurations are more than noise, how large they
// are, and how sure that is.
//
// A run is one value of each metric, however many requests it made. The median
// of a configuration's runs and its 95% interval, and the p of a difference, are
// those of golang.org/x/perf/benchmath with AssumeNothing (order statistics and
// the Mann-Whitney U test), which is to say those of benchstat.
//
// Each configuration is compared with the baseline. With more of them, one is
// more likely to seem different by chance, and so the p of one metric's
// comparisons are corrected for their number by Holm's method (S. Holm, A simple
// sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6, 1979), which holds whether or not they depend on each other, as
// these do by their common baseline. The family is one metric's comparisons
// because that is what a reader asks: which of these configurations differ in
// requests per second? Where one configuration alone is compared, as with the
// benchmarks of two commits, it is the runs' own measures together, among which a
// reader looks for the one that differs. Metrics are else not corrected for one another: what a report
// says first it says of the few that lead, which are chosen by the kind of load
// before any value is seen. Of the others, one in twenty may seem to differ
// where nothing does.
//
// The baseline takes part twice, and what lies between it and its twin is noise
// for certain. A configuration that is no farther from either of them than they
// are from each other is within the noise whatever its p is; of two that are the
// same, the test alone would tell one pair in twenty apart, and this halves it.
//
// No run is dropped. Those that were not measured (see [lab.Outcome]) have no
// values and are counted; outliers are marked and take part.
package analysis
