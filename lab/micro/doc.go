// Package micro runs the Go benchmarks of two commits or folders as an experiment of
// lab. They run in turn, so that a drift of the machine affects both alike, and the
// first one takes part twice to show the noise. The results have the same form as the
// results of other experiments, for the same analysis and the same report. A run is one
// execution of all benchmarks, and their numbers are the run's own measures.
package micro
