// Package analysis evaluates the results of an experiment: it decides which
// differences between configurations are more than noise, and estimates how
// large and how certain they are.
//
// A run is one value of each metric, however many requests it made. The median of a
// configuration's runs with its 95% interval comes from golang.org/x/perf/benchmath
// with AssumeNothing (order statistics), as in benchstat.
//
// Runs lie in blocks of one run of each configuration, made one after the other in
// random order. Each configuration is compared with the baseline within the blocks,
// see [arrangement].
//
// Only the contrasts of an experiment are tested, in its leading metrics. Both are chosen before the first run. The more
// of them there are, the more seem to differ by chance. So their p are corrected together, by the method of Westfall and
// Young, which takes into account how results depend on each other. All other differences are descriptions: they have a
// size, and no verdict. A [Plan] tells before the first run which differences an experiment can find.
//
// Of the pages of experiments in which nothing differs, about 5% have a sentence
// that reports a difference; TestFalseSentencesAreRare checks it.
//
// The baseline takes part twice. Any difference between it and its twin is noise.
// The others are compared with the runs of both.
//
// The two sides of [Compare] did not run in turn, and have no common blocks. They are
// compared by the Mann-Whitney U test, as in benchstat, and corrected by Holm's method
// (A simple sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6, 1979). If a metric changes with time while one side runs, each side
// counts as one run of it. A difference that is no larger than that of a baseline from
// its twin is noise.
//
// No run is dropped. Runs that were not measured (see [results.Outcome]) have no
// values and are counted. Outliers are marked and take part.
package analysis
