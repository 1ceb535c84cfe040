package guard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
)

// Sentence returns the answer and its reason.
func (r *Result) Sentence() string {
	return fmt.Sprintf("%s: %s; %s in %s", r.Answer, r.reason(), readable.Things(int64(len(r.Blocks)), "block"),
		readable.Lasting(math.Round(r.Elapsed.Seconds())))
}

func (r *Result) reason() string {
	if f := r.Failure; f != nil {
		return fmt.Sprintf("the change did not serve in block %d, and the base did: %s", f.Block, failure(f))
	}
	var decisive []string
	for _, j := range r.Conditions {
		if j.Answer == r.Answer {
			decisive = append(decisive, j.Sentence())
		}
	}
	reason := strings.Join(decisive, ", ")
	if r.Answer == Undecided {
		reason += ", " + r.outlook()
	}
	return reason
}

// Sentence describes the difference of a condition.
func (j *Judged) Sentence() string {
	where := map[Answer]string{Worse: "above", Fine: "below", Undecided: "which contains"}[j.Answer]
	if math.IsNaN(j.Estimate) {
		return j.Metric + " was not compared"
	}
	return fmt.Sprintf("%s, %s the bound of %s", j.Summary(), where, j.Show(j.center()))
}

// Summary names the difference of a condition and its interval.
func (j *Judged) Summary() string {
	return fmt.Sprintf("%s %s (%s)", j.Metric, j.Show(j.Estimate), j.interval())
}

func (j *Judged) interval() string {
	low, high := j.Show(j.Low), j.Show(j.High)
	switch {
	case math.IsInf(j.Low, 0) && math.IsInf(j.High, 0):
		return "no interval yet"
	case math.IsInf(j.Low, 0):
		return "at most " + high
	case math.IsInf(j.High, 0):
		return "at least " + low
	}
	return low + " to " + high
}

// outlook says how many blocks more would decide.
func (r *Result) outlook() string {
	most := 0
	for _, j := range r.Conditions {
		if j.Answer == Undecided && j.More == 0 {
			return "and it is so near that more blocks would hardly decide"
		}
		most = max(most, j.More)
	}
	text := "and about " + readable.Things(int64(most), "block") + " more would probably decide"
	if n := len(r.Blocks); n > 0 {
		text += fmt.Sprintf(" (%s)", readable.Lasting(math.Round(float64(most)*r.Elapsed.Seconds()/float64(n))))
	}
	return text
}

// failure describes a failed run in a line.
func failure(f *Failure) string {
	why, _, _ := strings.Cut(f.Run.Error, "\n")
	text := fmt.Sprintf("%s: %s", f.Run.Outcome, readable.Visible(why))
	if f.Run.Exit != "" {
		text += " (" + f.Run.Exit + ")"
	}
	return text
}

// Notes returns remarks that a reader of the answer needs.
func (r *Result) Notes() (notes []string) {
	var base, change answered
	saturated := 0
	var runs []results.Run
	for _, b := range r.Blocks {
		for _, p := range b.Pairs {
			base.add(p.Base)
			change.add(p.Change)
			for _, run := range []*results.Run{p.Base, p.Change} {
				runs = append(runs, *run)
				if run.Load.Saturated {
					saturated++
				}
			}
		}
	}
	if base.without2xx+change.without2xx > 0 {
		notes = append(notes, fmt.Sprintf("requests not answered with 2xx: %s of the base, %s of the change",
			readable.Share(base.without2xx, base.sent), readable.Share(change.without2xx, change.sent)))
	}
	ofLatency := slices.ContainsFunc(r.Conditions, func(j Judged) bool { return j.metric.latency })
	if saturated > 0 && ofLatency {
		notes = append(notes, fmt.Sprintf("in %d of %d runs the load generator was at its limit, or waited for a CPU: "+
			"latencies include that, and hide a part of a difference", saturated, len(runs)))
	}
	if r.Duet {
		notes = append(notes, "base and change ran at the same time, each on half of the processors, twice in a block with the halves swapped")
	}
	if sentence := analysis.StillWarming(runs); sentence != "" {
		notes = append(notes, sentence)
	}
	for _, run := range r.Left {
		notes = append(notes, fmt.Sprintf("a block was left out, because the %s was not measured: %s", run.Configuration, run.Error))
	}
	return notes
}

// answered counts the requests of a side.
type answered struct{ sent, without2xx int64 }

func (a *answered) add(r *results.Run) {
	a.sent += r.Load.Sent
	a.without2xx += r.Load.Without2xx()
}

// Columns are the names of the cells of [Result.Rows].
var Columns = []string{"condition", "base", "change", "difference", "95% interval", "answer"}

// Rows returns the cells of a table with a row for each condition.
func (r *Result) Rows() (rows [][]string) {
	for _, j := range r.Conditions {
		change := "no value"
		if !math.IsInf(j.Change, 0) {
			change = j.Quantity(j.Change)
		}
		rows = append(rows, []string{j.Condition.String(), j.Quantity(j.Base), change, j.Show(j.Estimate),
			j.interval(), string(j.Answer)})
	}
	return rows
}
