package analysis

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A contest is one of several comparisons that are corrected together.
type contest struct {
	configuration string
	index         []int // of the blocks, in the grid of all blocks
	*arrangement
}

// contest returns the contest of the configuration of a pairing.
func (p *pairing) contest(configuration string) contest {
	c := contest{configuration: configuration, arrangement: p.arrange(1)}
	for i := range p.blocks {
		c.index = append(c.index, p.blocks[i].index)
	}
	return c
}

// correctedTogether returns the p of each contest, corrected for all of them by the step-down method of Westfall and
// Young (Resampling-based multiple testing, 1993): the share of the permutations in which the largest statistic of this
// contest and of all with a smaller one is not smaller than this one.
//
// A permutation of a contest only moves runs between its configuration and the baseline. So its statistic does not
// depend on whether another configuration differs, and the probability that any equal configuration is found to differ
// is at most alpha, however many others differ (strong control). The permutations of the contests depend on each other
// as the statistics do, which share the runs of the baseline. See [shuffle].
func correctedTogether(contests []contest, draws int) []float64 {
	order := make([]int, len(contests))
	observed := make([]float64, len(contests))
	for i := range contests {
		order[i], observed[i] = i, contests[i].of(contests[i].observed)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(observed[j], observed[i]) })
	counts := make([]int, len(contests))
	s := newShuffle(contests)
	for range draws - 1 {
		s.next()
		largest := 0.0
		for _, i := range slices.Backward(order) {
			c := &contests[i]
			if largest = max(largest, c.of(s.sums(i, c))); largest >= observed[i]*rounding {
				counts[i]++
			}
		}
	}
	ps := make([]float64, len(contests))
	least := 0.0
	for _, i := range order {
		least = max(least, float64(counts[i]+1)/float64(draws)) // one more is the observed one
		ps[i] = least
	}
	return ps
}

// A shuffle permutes the labels of all contests at once.
//
// If three runs of a block are alike, each of them is the configuration's in a third of the permutations. Let two
// configurations have runs x and y beside the runs b and b' of the baseline. Over all permutations of the four labels,
// their statistics have a correlation of 1/3. It is the same if all configurations of the block that change places with
// the baseline do so with the same of its runs, and each one does independently with a probability of 2/3. With one run
// of the baseline, all change places or none does, for a correlation of 1/2.
type shuffle struct {
	random *rand.Rand
	labels [][]uint8 // by configuration and block: the run that is the configuration's; 0 is its own
	single []uint8   // the same for blocks with one run of the baseline
	of     []int     // the configuration of each contest
}

func newShuffle(contests []contest) *shuffle {
	s := &shuffle{random: rand.New(rand.NewPCG(2, 0))}
	blocks := 0
	numbers := map[string]int{}
	for i := range contests {
		for _, b := range contests[i].index {
			blocks = max(blocks, b+1)
		}
		name := contests[i].configuration
		if _, ok := numbers[name]; !ok {
			numbers[name] = len(numbers)
		}
		s.of = append(s.of, numbers[name])
	}
	s.single = make([]uint8, blocks)
	for range numbers {
		s.labels = append(s.labels, make([]uint8, blocks))
	}
	return s
}

// next makes the next permutation.
func (s *shuffle) next() {
	const twoThirds = 43_691 // of 65,536
	for i := range s.single {
		bits := s.random.Uint64()
		s.single[i] = uint8(bits & 1)
		base := uint8(1 + bits>>1&1)
		bits >>= 16
		left := 3
		for _, labels := range s.labels {
			if left == 0 {
				bits, left = s.random.Uint64(), 4
			}
			labels[i] = 0
			if bits&0xffff < twoThirds {
				labels[i] = base
			}
			bits >>= 16
			left--
		}
	}
}

// sums returns the sums of contest number i in the current permutation.
func (s *shuffle) sums(i int, c *contest) (sum sums) {
	labels := s.labels[s.of[i]]
	for k := range c.blocks {
		b, at := &c.blocks[k], c.index[k]
		if b.runs == 2 {
			sum += b.scores[s.single[at]]
		} else {
			sum += b.scores[labels[at]]
		}
	}
	return sum
}
