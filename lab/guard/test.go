package guard

import "math"

// An Answer is the result of a guard, or of one of its conditions.
type Answer string

const (
	Undecided Answer = "undecided" // the interval contains the bound
	Worse     Answer = "worse"     // the whole interval is above the bound
	Fine      Answer = "fine"      // the whole interval is below the bound
)

// level is the chance, at most, that a condition whose difference is equal to
// its bound is ever found worse, and the chance that it is ever found fine.
// Both together are the 5% of a 95% interval.
const level = 0.025

// A test compares the differences of blocks with one value, the center. Its two
// sides reject that the differences are at most, or at least, the center.
//
// The runs of a block are in random order. So if the true difference is equal to
// the center, a block's difference is as often above it as below it, by the
// same distance, whatever the machine does: given all distances, the signs are
// independent flips of a fair coin. This holds for any distribution of the
// noise and any dependence between blocks.
//
// The statistic is the sum of the signs, each with a score: the rank of its
// distance among those so far. (Such sequential ranks are of Reynolds, A
// sequential signed-rank test for symmetry, Annals of Statistics 3, 1975; the
// ranks of Wilcoxon's test would change the scores of earlier blocks.) Because
// a score does not change later, the sum is a random walk with known steps,
// and its distribution over all signs is computed exactly.
//
// The test may be looked at after every block. Of the level, a look may spend
// what the share of the time that has passed allows (Lan and DeMets, Discrete
// sequential boundaries for clinical trials, Biometrika 70, 1983, with the
// linear spending function): the bound of the sum is the smallest one that the
// walk exceeds at this look, and has not exceeded at an earlier one, with at
// most the chance that is left.
type test struct {
	center       float64
	distances    []float64
	sum          int
	above, below side
	answer       Answer // of the first side that rejected
}

func newTest(center, worse, fine float64) *test {
	return &test{center: center, above: newSide(worse), below: newSide(fine), answer: Undecided}
}

// add adds the difference of a block. The share is that of the time, from 0 to
// 1; it must not depend on the differences.
func (t *test) add(difference, share float64) {
	x := difference - t.center
	t.distances = append(t.distances, math.Abs(x))
	score := 0
	switch {
	case x > 0:
		score = scoreOf(t.distances)
		t.sum += score
	case x < 0:
		score = scoreOf(t.distances)
		t.sum -= score
	}
	worse, fine := t.above.bound(score, share), t.below.bound(score, share)
	switch {
	case t.answer != Undecided:
	case t.sum >= worse:
		t.answer = Worse
	case -t.sum >= fine:
		t.answer = Fine
	}
}

// scores is the largest score.
const scores = 32

// scoreOf returns the score of the last distance: its rank, as a share of
// scores. Equal distances have the mean of their ranks.
func scoreOf(distances []float64) int {
	last := distances[len(distances)-1]
	less, equal := 0, 0
	for _, d := range distances {
		switch {
		case d < last:
			less++
		case d == last:
			equal++
		}
	}
	return 1 + (2*less+equal)*(scores-1)/(2*len(distances))
}

// A side is one side of a test. It rejects if the sum is large.
type side struct {
	level float64
	spent float64 // the chance that it has rejected so far

	// mass[i] is the chance that the sum of n scores of total s is 2i-s, and
	// that the side has not rejected.
	mass []float64
}

func newSide(level float64) side { return side{level: level, mass: []float64{1}} }

// bound adds the score of a block, and returns the smallest sum for which the
// side rejects at this look.
func (s *side) bound(score int, share float64) int {
	mass := make([]float64, len(s.mass)+score)
	for i, m := range s.mass {
		mass[i] += m / 2
		mass[i+score] += m / 2
	}
	s.mass = mass
	total := len(mass) - 1
	const rounding = 1e-12
	i, left := total, s.level*min(share, 1)-s.spent+rounding
	for ; i >= 0 && mass[i] <= left; i-- {
		left -= mass[i]
		s.spent += mass[i]
		mass[i] = 0
	}
	return 2*(i+1) - total
}
