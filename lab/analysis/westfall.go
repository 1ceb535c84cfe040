package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A contest is one of several comparisons that are corrected together.
type contest struct {
	configuration, base string
	index               []int // of the blocks, in the grid of all blocks
	*arrangement
}

// contest returns the contest of a configuration and the one that it is compared with.
func (p *pairing) contest(configuration, base string) contest {
	c := contest{configuration: configuration, base: base, arrangement: p.arrange(1)}
	for i := range p.blocks {
		c.index = append(c.index, p.blocks[i].index)
	}
	return c
}

// correctedTogether returns the p of each contest, corrected for all of them by the step-down method of Westfall and
// Young (Resampling-based multiple testing, 1993): the share of the permutations in which the smallest p of this contest
// and of all with a larger one is not larger than this one. It compares p and not statistics, because two runs of a block
// permit only small statistics, and three larger ones.
//
// A permutation of a contest only moves runs between its two configurations. So its p does not depend on whether another
// configuration differs, and the probability that any equal configuration is found to differ is at most alpha, however
// many others differ (strong control). The permutations of the contests depend on each other as the statistics do, which
// share the runs of the baseline. See [shuffle].
func correctedTogether(contests []contest, draws int) []float64 {
	tails := tailsOf(contests, draws)
	order := make([]int, len(contests))
	for i := range contests {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(tails[i][0], tails[j][0]) })
	ps := make([]float64, len(contests))
	smallest := slices.Repeat([]int32{math.MaxInt32}, draws)
	for _, i := range slices.Backward(order) {
		count := 0
		for k, tail := range tails[i] {
			if smallest[k] = min(smallest[k], tail); smallest[k] <= tails[i][0] {
				count++
			}
		}
		ps[i] = float64(count) / float64(draws)
	}
	least := 0.0
	for _, i := range order {
		least = max(least, ps[i])
		ps[i] = least
	}
	return ps
}

// tailsOf returns for each contest and permutation the number of permutations in which its statistic is not smaller. The
// first one is the observed one.
func tailsOf(contests []contest, draws int) [][]int32 {
	// A key has the bits of a statistic as a float32, which are in the order of their values, and the permutation.
	keys := make([][]uint64, len(contests))
	for i := range contests {
		keys[i] = make([]uint64, draws)
		keys[i][0] = uint64(math.Float32bits(float32(contests[i].of(contests[i].observed)))) << 32
	}
	s := newShuffle(contests)
	for k := 1; k < draws; k++ {
		s.next()
		for i := range contests {
			c := &contests[i]
			keys[i][k] = uint64(math.Float32bits(float32(c.of(s.sums(i, c)))))<<32 | uint64(k)
		}
	}
	all := make([][]int32, len(contests))
	for i, of := range keys {
		slices.Sort(of)
		all[i] = make([]int32, draws)
		tail := int32(draws)
		for at, key := range of {
			if at > 0 && key>>32 != of[at-1]>>32 {
				tail = int32(draws - at)
			}
			all[i][uint32(key)] = tail
		}
		keys[i] = nil
	}
	return all
}

// A shuffle permutes the labels of all contests at once.
//
// If three runs of a block are alike, each of them is the configuration's in a third of the permutations. Let two
// configurations have runs x and y beside the runs b and b' of the baseline. Over all permutations of the four labels,
// their statistics have a correlation of 1/3. It is the same if all configurations of the block that change places with
// the baseline do so with the same of its runs, and each one does independently with a probability of 2/3. With one run
// of the baseline, all change places or none does, for a correlation of 1/2.
//
// Contests with another configuration than the baseline are permuted independently of the baseline's. That leaves out
// that they depend on each other, and can only make a corrected p larger.
type shuffle struct {
	random *rand.Rand
	bases  []sharedBase
	of     []struct{ base, label int } // by contest
}

// A sharedBase has the labels of the contests with one configuration.
type sharedBase struct {
	labels [][]uint8 // by the other configuration and block: the run that is the configuration's; 0 is its own
	single []uint8   // the same for blocks with one run of the base
}

func newShuffle(contests []contest) *shuffle {
	s := &shuffle{random: rand.New(rand.NewPCG(2, 0)), of: make([]struct{ base, label int }, len(contests))}
	blocks := 0
	for i := range contests {
		for _, b := range contests[i].index {
			blocks = max(blocks, b+1)
		}
	}
	bases, labels := map[string]int{}, map[[2]string]int{}
	for i, c := range contests {
		base, ok := bases[c.base]
		if !ok {
			base = len(bases)
			bases[c.base] = base
			s.bases = append(s.bases, sharedBase{single: make([]uint8, blocks)})
		}
		label, ok := labels[[2]string{c.base, c.configuration}]
		if b := &s.bases[base]; !ok {
			label = len(b.labels)
			labels[[2]string{c.base, c.configuration}] = label
			b.labels = append(b.labels, make([]uint8, blocks))
		}
		s.of[i].base, s.of[i].label = base, label
	}
	return s
}

// next makes the next permutation.
func (s *shuffle) next() {
	for i := range s.bases {
		s.bases[i].next(s.random)
	}
}

func (b *sharedBase) next(random *rand.Rand) {
	const twoThirds = 43_691 // of 65,536
	for i := range b.single {
		bits := random.Uint64()
		b.single[i] = uint8(bits & 1)
		base := uint8(1 + bits>>1&1)
		bits >>= 16
		left := 3
		for _, labels := range b.labels {
			if left == 0 {
				bits, left = random.Uint64(), 4
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
	b := &s.bases[s.of[i].base]
	labels := b.labels[s.of[i].label]
	for k := range c.blocks {
		block, at := &c.blocks[k], c.index[k]
		if block.runs == 2 {
			sum += block.scores[b.single[at]]
		} else {
			sum += block.scores[labels[at]]
		}
	}
	return sum
}
