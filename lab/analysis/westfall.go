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
	all := permutedPs(contests, draws)
	order := make([]int, len(contests))
	for i := range contests {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(all[i][0], all[j][0]) })
	ps := make([]float64, len(contests))
	smallest := slices.Repeat([]float32{math.MaxFloat32}, draws)
	for _, i := range slices.Backward(order) {
		count := 0
		for k, p := range all[i] {
			if smallest[k] = min(smallest[k], p); smallest[k] <= all[i][0] {
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

// permutedPs returns the p of each contest in each permutation. The first permutation is the observed one.
func permutedPs(contests []contest, draws int) [][]float32 {
	statistics := make([][]float32, len(contests))
	for i := range contests {
		statistics[i] = make([]float32, draws)
		statistics[i][0] = float32(contests[i].of(contests[i].observed))
	}
	s := newShuffle(contests)
	for k := 1; k < draws; k++ {
		s.next()
		for i := range contests {
			c := &contests[i]
			statistics[i][k] = float32(c.of(s.sums(i, c)))
		}
	}
	for i, of := range statistics {
		distribution := contests[i].distribution()
		if distribution == nil {
			distribution = slices.Sorted(slices.Values(of))
		}
		n := float32(len(distribution))
		for k, v := range of {
			smaller, _ := slices.BinarySearch(distribution, v)
			of[k] = (n - float32(smaller)) / n
		}
	}
	return statistics
}

// distribution returns the sorted statistics of all permutations, or nil if they are too many. So contests that can only
// have a few different p have equal ones, and not almost equal ones, which draws would give them.
func (a *arrangement) distribution() []float32 {
	tables := a.tables()
	permutations := 1.0
	for _, t := range tables {
		permutations *= float64(len(t))
	}
	if permutations > draws {
		return nil
	}
	all := []sums{0}
	for _, table := range tables {
		next := make([]sums, 0, len(all)*len(table))
		for _, s := range all {
			for _, each := range table {
				next = append(next, s+each)
			}
		}
		all = next
	}
	statistics := make([]float32, len(all))
	for i, s := range all {
		statistics[i] = float32(a.of(s))
	}
	slices.Sort(statistics)
	return statistics
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
