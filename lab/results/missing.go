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

	// Instructions are only counted if a leading metric is about them, because that makes context switches slower.
	Instructions Part = "instructions"
)

// Parts returns all parts, in the order of the metrics.
func Parts() []Part { return []Part{CPU, Instructions, Memory, Threads, OpenFiles, Switches} }

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
	p := PartOf(metric)
	return p != "" && slices.ContainsFunc(runs, func(r Run) bool { return r.Lacks(p) })
}

// PartOf returns the part of the usage that a metric of the lab is from, or "".
func PartOf(metric string) Part {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == metric })
	if i < 0 {
		return ""
	}
	return metrics[i].Part
}
