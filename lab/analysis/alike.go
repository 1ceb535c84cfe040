package analysis

import (
	"fmt"
	"math"
)

// A noiseKind is the reason for the verdict Noise.
type noiseKind int

const (
	forbidden noiseKind = iota // a baseline differs from itself by as much, between two sessions
	open                       // the interval of the ratio excludes 1, or there is none; chance may be all of it
	none                       // the interval contains 1, or the medians are equal
)

func (d *Difference) kindOfNoise() noiseKind {
	switch {
	case d.Why == withinItself:
		return forbidden
	case d.Interval != nil && (d.Interval.Low > 1 || d.Interval.High < 1),
		d.Interval == nil && d.Ratio != nil && *d.Ratio != 1: // as with runs of 0 responses per second
		return open
	}
	return none
}

// ofMany is the end of a sentence about several comparisons.
func (k noiseKind) ofMany(intervals []*Interval) string {
	switch k {
	case forbidden:
		return "the noise forbids a verdict: a baseline differs from itself by as much"
	case open:
		return "a difference is undecided: no 95% interval contains equality, but chance may be all of it in so many " +
			"comparisons"
	}
	return "no difference was found" + allowed(intervals...)
}

// alike describes one comparison without a verdict of better or worse.
func (j judged) alike() string {
	d, unit := j.versus, j.metric.Unit
	if j.than != nil {
		if d.kindOfNoise() == open {
			return fmt.Sprintf("It is undecided whether the effects differ: %s (%s); %s.", j.effects(), j.sureness(), d.Why)
		}
		return fmt.Sprintf("No difference between the effects was found: %s%s (%s).", j.effects(), allowed(d.Interval), j.sureness())
	}
	values := fmt.Sprintf("%s instead of %s", Quantity(j.row.Median, unit), Quantity(j.base.Median, unit))
	switch d.kindOfNoise() {
	case open:
		return fmt.Sprintf("It is undecided whether %s differs between %s and %s: %s (%s); %s.", j.metric.Name,
			j.row.Configuration, j.base.Configuration, values, j.sureness(), d.Why)
	}
	text := fmt.Sprintf("No difference in %s was found between %s and %s: %s and %s", j.metric.Name,
		j.row.Configuration, j.base.Configuration,
		Quantity(j.row.Median, unit), Quantity(j.base.Median, unit))
	if d.Interval == nil {
		return text + fmt.Sprintf(" (%s).", j.runs())
	}
	return text + fmt.Sprintf("%s (%s).", allowed(d.Interval), j.sureness())
}

// scattered is the width from which on an interval says more about the runs
// than about the difference.
const scattered = 0.2

// allowed describes the differences that the intervals allow, after comparisons
// that found none. It is "" if one of them has no interval.
func allowed(all ...*Interval) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, i := range all {
		if i == nil {
			return ""
		}
		low, high = min(low, i.Low), max(high, i.High)
	}
	if widest := max(1-low, high-1); widest < scattered {
		return fmt.Sprintf("; if there is one, it is likely %s", under(widest))
	}
	reach := "the 95% interval reaches"
	if len(all) > 1 {
		reach = "the 95% intervals reach"
	}
	return fmt.Sprintf("; the runs scatter, and %s from %s to %s", reach, change(low), change(high))
}

func intervals(group []judged) []*Interval {
	var all []*Interval
	for _, j := range group {
		all = append(all, j.versus.Interval)
	}
	return all
}
