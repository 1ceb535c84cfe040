// Package micro runs the Go benchmarks of two commits, or of two folders, as an
// experiment of lab: in turn, so that a machine that drifts hits both alike, with
// the first one twice, so that the noise is known. What comes back is results as
// those of any experiment, for the same analysis and the same report: a run is one
// execution of all benchmarks, and each benchmark's numbers are the run's own
// measures.
package micro
