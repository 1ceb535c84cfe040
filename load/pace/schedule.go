package pace

import (
	"math"
	"math/rand/v2"
	"time"
)

// A Schedule is one part of a pace, the part of a thread: the due times of its requests, which
// never decrease.
//
// A request is due when the integral of the rate over time reaches the next term of a
// sequence: the natural numbers for an even pace, sums of exponential variables for
// Poisson arrivals. With n parts each takes every n-th number, or has its own Poisson
// process with a share of the rate, so that threads and machines need no coordination.
type Schedule struct {
	stages []Stage
	parts  float64
	area   float64 // the integral at which the next request is due
	random *rand.Rand

	stage  int
	before float64       // the integral over the previous stages
	began  time.Duration // when the stage began
}

// NewSchedule returns a part of a pace, from 0 up to parts-1. The seed is for random arrivals.
func NewSchedule(p Pace, part, parts int, seed uint64) *Schedule {
	s := &Schedule{stages: p.Stages, parts: float64(parts), area: float64(part)}
	if p.Poisson {
		s.random = rand.New(rand.NewPCG(seed, uint64(part)))
		s.area = s.parts * s.random.ExpFloat64()
	}
	return s
}

// Due returns when the next request is due, or Never after the last stage.
func (s *Schedule) Due() time.Duration {
	for s.stage < len(s.stages) {
		stage := &s.stages[s.stage]
		if at, ok := stage.reach(s.area - s.before); ok {
			return s.began + at
		}
		s.before += stage.area()
		s.began += stage.Duration
		s.stage++
	}
	return Never
}

// Never is later than all times.
const Never = time.Duration(math.MaxInt64)

// Advance goes to the following request.
func (s *Schedule) Advance() {
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
	return time.Duration(ns), ns < float64(Never)
}

// DueUntil returns the number of requests that are due until t, on average if they are random.
func (p Pace) DueUntil(t time.Duration) (n float64) {
	for _, s := range p.Stages {
		if s.Duration == 0 || t < s.Duration {
			part := s
			part.Duration = t
			if s.Duration > 0 {
				part.To = s.From + (s.To-s.From)*t.Seconds()/s.Duration.Seconds()
			}
			return n + part.area()
		}
		n += s.area()
		t -= s.Duration
	}
	return n
}
