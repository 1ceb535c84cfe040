package load

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
}

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

// maxRate is one request per nanosecond, the resolution of the clock.
const maxRate = 1e9

func validRate(r float64) bool { return r >= 0 && r <= maxRate }

// poisson is the text of random arrivals.
const poisson = "(Poisson)"

// String returns a text such as "closed loop", "1000/s" or "30s:0-1000 1m:1000".
func (p Pace) String() string {
	if !p.open() {
		return "closed loop"
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

// parsePace is the inverse of String.
func parsePace(text string) (Pace, error) {
	if text == (Pace{}).String() {
		return Pace{}, nil
	}
	var p Pace
	for word := range strings.FieldsSeq(text) {
		if word == poisson {
			p.Poisson = true
			continue
		}
		if rate, ok := strings.CutSuffix(word, "/s"); ok {
			perSecond, err := strconv.ParseFloat(rate, 64)
			if err != nil {
				return p, fmt.Errorf("load: the pace %q has no rate: %w", text, err)
			}
			p.Stages = append(p.Stages, Rate(perSecond).Stages...)
			continue
		}
		stage, err := ParseStage(word)
		if err != nil {
			return p, fmt.Errorf("load: the pace %q: %w", text, err)
		}
		p.Stages = append(p.Stages, stage)
	}
	if !p.open() {
		return p, fmt.Errorf("load: %q is not a pace", text)
	}
	return p, p.check()
}

func (p Pace) open() bool { return len(p.Stages) > 0 }

func (p Pace) check() error {
	var most float64
	for i, s := range p.Stages {
		switch {
		case !validRate(s.From) || !validRate(s.To): // NaN too
			return fmt.Errorf("load: stage %d of the pace goes from %v to %v requests per second; it may be 0 to %v",
				i+1, s.From, s.To, maxRate)
		case s.Duration < 0 || s.Duration == 0 && i < len(p.Stages)-1:
			return fmt.Errorf("load: stage %d of the pace has no duration; only the last one may last until the end",
				i+1)
		case s.Duration == 0 && s.From != s.To:
			return fmt.Errorf("load: stage %d of the pace has two rates and no duration", i+1)
		}
		most = max(most, s.From, s.To)
	}
	if p.open() && most == 0 {
		return errors.New("load: the pace has no rate above 0")
	}
	return nil
}

// length returns the duration of all stages; 0 if the last one does not end.
func (p Pace) length() time.Duration {
	var sum time.Duration
	for _, s := range p.Stages {
		if s.Duration == 0 {
			return 0
		}
		sum += s.Duration
	}
	return sum
}

// A schedule is one part of a pace, that of a thread: the due times of its requests, which never
// decrease.
//
// A request is due when the integral of the rate over time reaches the next term of a
// sequence: the natural numbers for an even pace, sums of exponential variables for
// Poisson arrivals. With n parts each takes every n-th number, or has its own Poisson
// process with a share of the rate, so that threads and machines need no coordination.
type schedule struct {
	stages []Stage
	parts  float64
	area   float64 // the integral at which the next request is due
	random *rand.Rand

	stage  int
	before float64       // the integral over the previous stages
	began  time.Duration // when the stage began
}

func newSchedule(p Pace, part, parts int, seed uint64) *schedule {
	s := &schedule{stages: p.Stages, parts: float64(parts), area: float64(part)}
	if p.Poisson {
		s.random = rand.New(rand.NewPCG(seed, uint64(part)))
		s.area = s.parts * s.random.ExpFloat64()
	}
	return s
}

// due returns when the next request is due, or never after the last stage.
func (s *schedule) due() time.Duration {
	for s.stage < len(s.stages) {
		stage := &s.stages[s.stage]
		if at, ok := stage.reach(s.area - s.before); ok {
			return s.began + at
		}
		s.before += stage.area()
		s.began += stage.Duration
		s.stage++
	}
	return never
}

// never is later than all times.
const never = time.Duration(math.MaxInt64)

// advance goes to the following request.
func (s *schedule) advance() {
	if s.random != nil {
		s.area += s.parts * s.random.ExpFloat64()
	} else {
		s.area += s.parts
	}
}

// area returns the number of requests in the stage.
func (s *Stage) area() float64 { return (s.From + s.To) / 2 * s.Duration.Seconds() }

// reach returns when the integral over the stage reaches an area; ok is false if that is
// after its end.
func (s *Stage) reach(area float64) (at time.Duration, ok bool) {
	if s.Duration > 0 && area >= s.area() {
		return 0, false
	}
	// From·t + slope·t²/2 = area, solved for t without taking a difference.
	seconds := 0.0
	if area > 0 {
		slope := 0.0
		if s.Duration > 0 {
			slope = (s.To - s.From) / s.Duration.Seconds()
		}
		seconds = 2 * area / (s.From + math.Sqrt(max(0, s.From*s.From+2*slope*area)))
	}
	ns := seconds * float64(time.Second)
	return time.Duration(ns), ns < float64(never)
}
