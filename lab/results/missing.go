package results

import "slices"

// A Part is a part of [Usage] that is measured as a whole, or not at all.
type Part string

const (
	CPU       Part = "CPU"
	Memory    Part = "memory"
	Threads   Part = "threads"
	OpenFiles Part = "open files"
	Switches  Part = "context switches"
)

// Parts returns all parts, in the order of the metrics.
func Parts() []Part { return []Part{CPU, Memory, Threads, OpenFiles, Switches} }

// A Missing is a part of the usage that a run does not have.
type Missing struct {
	Part Part   `json:"part"`
	Why  string `json:"why"`
}

// Lacks reports whether a part of the usage is missing.
func (r *Run) Lacks(p Part) bool {
	return slices.ContainsFunc(r.Missing, func(m Missing) bool { return m.Part == p })
}

// LackedBy reports whether a metric of the lab is from a part of the usage that some run lacks.
func LackedBy(runs []Run, metric string) bool {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == metric && m.Part != "" })
	return i >= 0 && slices.ContainsFunc(runs, func(r Run) bool { return r.Lacks(metrics[i].Part) })
}
