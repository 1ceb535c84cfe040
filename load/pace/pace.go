// Package pace determines when the requests of a load test are due.
//
// A [Pace] is the schedule of a whole run, in the notation of the command line: stages with a constant rate or a ramp,
// evenly spaced or random. A [Schedule] is the part of one thread. The threads of all machines together send what the
// Pace asks for, and need no coordination. The package has no clock: all times are durations since the start.
package pace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Pace is a schedule of requests. The zero Pace is the closed loop, without a
// schedule.
type Pace struct {
	// Stages follow each other. The last one may have a Duration of 0: it lasts until
	// the run ends.
	Stages []Stage

	// Poisson makes arrivals random and independent of each other, with the stages'
	// rates on average. Otherwise they are evenly spaced.
	Poisson bool

	// Speed, if above 0, makes requests due when they were in a log, so many times as fast. Then there are no Stages.
	Speed float64
}

// OfLog returns the Pace of a log that is sent so many times as fast.
func OfLog(speed float64) Pace { return Pace{Speed: speed} }

// A Stage is an interval in which the rate changes linearly from From to To, in
// requests per second. For a constant rate both are equal.
type Stage struct {
	Duration time.Duration
	From, To float64
}

// Rate returns a Pace of evenly spaced requests per second.
func Rate(perSecond float64) Pace {
	return Pace{Stages: []Stage{{From: perSecond, To: perSecond}}}
}

// ParseStage reads a stage in the notation of the command line: "30s:1000", or
// "30s:1000-5000" for a ramp.
func ParseStage(s string) (Stage, error) {
	fail := func(why string) (Stage, error) {
		return Stage{}, fmt.Errorf("stage %q: %s; write 30s:1000, or 30s:1000-5000 for a ramp", s, why)
	}
	length, rates, ok := strings.Cut(s, ":")
	if !ok {
		return fail("there is no colon")
	}
	d, err := time.ParseDuration(length)
	if err != nil || d <= 0 {
		return fail(fmt.Sprintf("%q is not a time", length))
	}
	from, to, ramp := strings.Cut(rates, "-")
	if !ramp {
		to = from
	}
	stage := Stage{Duration: d}
	for _, r := range []struct {
		text string
		rate *float64
	}{{from, &stage.From}, {to, &stage.To}} {
		if *r.rate, err = strconv.ParseFloat(r.text, 64); err != nil || !validRate(*r.rate) {
			return fail(fmt.Sprintf("%q is not a rate per second", r.text))
		}
	}
	return stage, nil
}

// maxSpeed is beyond all servers.
const maxSpeed = 1e6

// maxRate is one request per nanosecond, the resolution of the clock.
const maxRate = 1e9

func validRate(r float64) bool { return r >= 0 && r <= maxRate }

// poisson is the text of random arrivals.
const poisson = "(Poisson)"

// ofLog and atSpeed are the text of the pace of a log.
const ofLog, atSpeed = "log", " at speed "

// String returns a text such as "closed loop", "1000/s", "30s:0-1000 1m:1000" or "log at speed 2".
func (p Pace) String() string {
	if !p.Open() {
		return "closed loop"
	}
	switch p.Speed {
	case 0:
	case 1:
		return ofLog
	default:
		return ofLog + atSpeed + strconv.FormatFloat(p.Speed, 'f', -1, 64)
	}
	var words []string
	for _, s := range p.Stages {
		words = append(words, s.String())
	}
	if p.Poisson {
		words = append(words, poisson)
	}
	return strings.Join(words, " ")
}

func (s Stage) String() string {
	from, to := strconv.FormatFloat(s.From, 'f', -1, 64), strconv.FormatFloat(s.To, 'f', -1, 64)
	switch {
	case s.Duration == 0:
		return from + "/s"
	case s.From == s.To:
		return fmt.Sprintf("%v:%s", s.Duration, from)
	}
	return fmt.Sprintf("%v:%s-%s", s.Duration, from, to)
}

// Parse is the inverse of String.
func Parse(text string) (Pace, error) {
	if text == (Pace{}).String() {
		return Pace{}, nil
	}
	var p Pace
	if text == ofLog {
		return OfLog(1), nil
	}
	if speed, ok := strings.CutPrefix(text, ofLog+atSpeed); ok {
		var err error
		if p.Speed, err = strconv.ParseFloat(speed, 64); err != nil {
			return p, fmt.Errorf("the pace %q has no speed: %w", text, err)
		}
		return p, p.Check()
	}
	for word := range strings.FieldsSeq(text) {
		if word == poisson {
			p.Poisson = true
			continue
		}
		if rate, ok := strings.CutSuffix(word, "/s"); ok {
			perSecond, err := strconv.ParseFloat(rate, 64)
			if err != nil {
				return p, fmt.Errorf("the pace %q has no rate: %w", text, err)
			}
			p.Stages = append(p.Stages, Rate(perSecond).Stages...)
			continue
		}
		stage, err := ParseStage(word)
		if err != nil {
			return p, fmt.Errorf("the pace %q: %w", text, err)
		}
		p.Stages = append(p.Stages, stage)
	}
	if !p.Open() {
		return p, fmt.Errorf("%q is not a pace", text)
	}
	return p, p.Check()
}

// Open reports whether the loop is open, so that requests have due times.
func (p Pace) Open() bool { return len(p.Stages) > 0 || p.Speed > 0 }

// Check returns an error if a stage has no valid rate or duration.
func (p Pace) Check() error {
	if p.Speed != 0 {
		switch {
		case !(p.Speed > 0 && p.Speed <= maxSpeed):
			return fmt.Errorf("the speed of a log is %v; it may be above 0, and up to %v", p.Speed, maxSpeed)
		case len(p.Stages) > 0 || p.Poisson:
			return errors.New("the pace has the speed of a log, and stages or random arrivals too")
		}
		return nil
	}
	var most float64
	for i, s := range p.Stages {
		switch {
		case !validRate(s.From) || !validRate(s.To): // NaN too
			return fmt.Errorf("stage %d of the pace goes from %v to %v requests per second; it may be 0 to %v",
				i+1, s.From, s.To, maxRate)
		case s.Duration < 0 || s.Duration == 0 && i < len(p.Stages)-1:
			return fmt.Errorf("stage %d of the pace has no duration; only the last one may last until the end",
				i+1)
		case s.Duration == 0 && s.From != s.To:
			return fmt.Errorf("stage %d of the pace has two rates and no duration", i+1)
		}
		most = max(most, s.From, s.To)
	}
	if p.Open() && most == 0 {
		return errors.New("the pace has no rate above 0")
	}
	return nil
}

// Scaled returns the pace with part/of of its rates.
func (p Pace) Scaled(part, of int) Pace {
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		p.Stages[i].From *= float64(part) / float64(of)
		p.Stages[i].To *= float64(part) / float64(of)
	}
	return p
}

// WarmedUp returns the pace after an interval with the rate with which it begins.
func (p Pace) WarmedUp(d time.Duration) Pace {
	first := p.Stages[0].From
	p.Stages = slices.Insert(slices.Clone(p.Stages), 0, Stage{Duration: d, From: first, To: first})
	return p
}

// Length returns the duration of all stages; 0 if the last one does not end.
func (p Pace) Length() time.Duration {
	var sum time.Duration
	for _, s := range p.Stages {
		if s.Duration == 0 {
			return 0
		}
		sum += s.Duration
	}
	return sum
}
