package guard

import (
	"fmt"
	"math"

	"github.com/weirhq/weir/lab/results"
)

// A Decision judges conditions, block by block. It is not safe for concurrent
// use.
type Decision struct {
	conditions []Condition
	tests      []*test
	all        []differences // of each condition
	blocks     []Block
	failure    *Failure
	left       []*results.Run // that were not measured, of blocks that were left out
}

// A Failure is a run in which the change did not serve, while the base did.
type Failure struct {
	Block int // from 1
	Run   *results.Run
}

// NewDecision returns a decision without blocks.
//
// The change is worse if one of the conditions finds it worse. So each of them
// has its part of the level of this side (Bonferroni). It is fine if all of
// them find it fine, for which each has the whole level of the other side (an
// intersection-union test: Berger, Multiparameter hypothesis testing and
// acceptance sampling, Technometrics 24, 1982).
func NewDecision(conditions []Condition) *Decision {
	d := &Decision{conditions: conditions, all: make([]differences, len(conditions))}
	for _, c := range conditions {
		d.tests = append(d.tests, newTest(c.center(), level/float64(len(conditions)), level))
	}
	return d
}

// LeastBlocks is the number of blocks before which nothing can be decided: the
// chance that the signs of six blocks are equal is below the level.
const LeastBlocks = 6

// maxLeft is the number of blocks at which a decision gives up because they were
// not measured.
const maxLeft = 3

// Add adds a block. It returns an error if the base does not serve: then there is
// nothing to compare. A block in which a run was not measured for another reason
// than the service, such as a port that another program took, is left out. The third
// one is an error.
func (d *Decision) Add(b Block) error {
	for _, p := range b.Pairs {
		if p.Base.ServiceFailed() {
			return &RunError{"the base", p.Base}
		}
	}
	if of, run := b.unmeasured(); run != nil {
		if d.left = append(d.left, run); len(d.left) == maxLeft {
			return &RunError{of, run}
		}
		return nil
	}
	for _, p := range b.Pairs {
		if p.Change.ServiceFailed() {
			d.failure = &Failure{Block: len(d.blocks) + 1, Run: p.Change}
			return nil
		}
		for _, c := range d.conditions {
			if math.IsNaN(c.of(p.Base)) {
				return fmt.Errorf("%s cannot be compared: %s", c.Metric, c.whyNone(p.Base))
			}
		}
	}
	d.blocks = append(d.blocks, b)
	for i, c := range d.conditions {
		difference := c.Difference(b)
		d.all[i].add(difference, b.Share)
		d.tests[i].add(difference, b.Share)
	}
	return nil
}

// whyNone returns why a run of the base has no value.
func (c Condition) whyNone(r *results.Run) string {
	part := results.PartOf(c.metric.lab)
	for _, m := range r.Missing {
		if m.Part == part {
			return m.Why
		}
	}
	return fmt.Sprintf("the base left %d of %d requests without a response", r.Load.Sent-r.Load.Requests, r.Load.Sent)
}

// unmeasured returns the first run that was not measured, if there is one, and its side.
func (b Block) unmeasured() (of string, run *results.Run) {
	for _, p := range b.Pairs {
		switch results.Failed {
		case p.Base.Outcome:
			return "the base", p.Base
		case p.Change.Outcome:
			return "the change", p.Change
		}
	}
	return "", nil
}

// A RunError is a run that was not measured.
type RunError struct {
	Of  string // "the base"
	Run *results.Run
}

func (e *RunError) Error() string {
	if e.Run.ServiceFailed() {
		return fmt.Sprintf("%s failed: nothing to compare the change with: %s: %s", e.Of, e.Run.Outcome, e.Run.Error)
	}
	return fmt.Sprintf("%s was not measured: %s", e.Of, e.Run.Error)
}

// Answer returns the answer so far. It does not change when it is no longer
// Undecided.
func (d *Decision) Answer() Answer {
	fine := len(d.tests) > 0
	for _, t := range d.tests {
		if t.answer == Worse {
			return Worse
		}
		fine = fine && t.answer == Fine
	}
	switch {
	case d.failure != nil:
		return Worse
	case fine:
		return Fine
	}
	return Undecided
}

// Judged is a condition with its answer.
type Judged struct {
	Condition
	Answer       Answer
	Base, Change float64 // medians; Change is +Inf if most runs have no value

	// Estimate is the difference, as are Low and High, the bounds of its 95%
	// interval: a logarithm of the ratio, or a difference of shares. See
	// [Condition.Show]. The interval holds at all looks together. It is
	// infinite if there are too few blocks.
	Estimate, Low, High float64

	// More is the number of blocks more that would decide in about four of five
	// guards whose true difference is the estimate; 0 if it is decided or if
	// they were too many.
	More int
}

// Judged returns the conditions.
func (d *Decision) Judged() []Judged {
	var all []Judged
	for i, c := range d.conditions {
		t, of := d.tests[i], &d.all[i]
		j := Judged{Condition: c, Answer: t.answer, Estimate: of.estimate()}
		var base, change []float64
		for _, b := range d.blocks {
			for _, p := range b.Pairs {
				base, change = append(base, c.of(p.Base)), append(change, infinite(c.of(p.Change)))
			}
		}
		j.Base, j.Change = median(base), median(change)
		j.Low, j.High = of.interval(t)
		if t.answer == Undecided {
			j.More = more(len(d.blocks), j, t.center)
		}
		all = append(all, j)
	}
	return all
}

// maxMore bounds More, as a multiple of the blocks so far. An estimate that
// needs more blocks may as well be equal to the bound.
const maxMore = 20

// reserve is the ratio of the blocks that decide in about four of five guards to
// those after which the interval is expected to end at the bound, in which half of
// the guards would have decided. TestMoreBlocksDecide checks it.
const reserve = 1.5

// more estimates how many blocks would decide, from the blocks so far: the
// width of an interval is inversely proportional to the root of their number.
func more(blocks int, j Judged, center float64) int {
	if blocks < LeastBlocks {
		return LeastBlocks - blocks
	}
	half, distance := j.High-j.Estimate, center-j.Estimate
	if distance < 0 {
		half, distance = j.Estimate-j.Low, -distance
	}
	if math.IsInf(half, 0) { // the blocks contradict each other
		half = 2 * distance
	}
	needed := reserve * float64(blocks) * (half / distance) * (half / distance)
	if !(needed <= float64(maxMore*blocks)) {
		return 0
	}
	return max(1, int(math.Ceil(needed))-blocks)
}

func infinite(value float64) float64 {
	if math.IsNaN(value) {
		return math.Inf(1)
	}
	return value
}
