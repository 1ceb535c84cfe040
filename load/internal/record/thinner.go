package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirhq/weir/load/internal/random"
)

// A thinner keeps a sample of the requests of a run, for a chart that looks like one
// of all requests: the slowest and a random request of each slot of time. All slots
// are equally long. When the run becomes longer than all slots together, each two
// slots are merged. Goroutines must not share a thinner. The nil thinner keeps
// nothing.
type thinner struct {
	slots  []slot
	shift  int // slots have 1<<shift nanoseconds
	random random.Source
}

// A slot is an interval of time. With one request, slowest and chosen are the same.
type slot struct {
	n               uint64 // requests that began in the slot
	next            uint64 // the number of the request that will be chosen next
	slowest, chosen Moment
}

// A Moment is a request of a sample.
type Moment struct {
	At     time.Duration // when it was due in the open loop, else when it was sent
	Took   time.Duration // to its response or its failure
	Status int32         // 0 if it failed
}

// shortestSlot is the initial shift of a slot, for 65 us.
const shortestSlot = 16

// newThinner returns a thinner that keeps at most so many requests.
func newThinner(most int, random random.Source) *thinner {
	if most < 2 {
		return nil
	}
	return &thinner{slots: make([]slot, most/2), shift: shortestSlot, random: random}
}

// record offers a request.
func (t *thinner) record(m Moment) {
	at := uint64(max(m.At, 0))
	for at>>t.shift >= uint64(len(t.slots)) {
		t.widen()
	}
	s := &t.slots[at>>t.shift]
	s.n++
	if m.Took > s.slowest.Took || s.n == 1 {
		s.slowest = m
	}
	if s.n >= s.next {
		s.chosen = m
		s.draw(&t.random)
	}
}

// draw decides which request is chosen next, so that all requests so far have the same
// chance. The next one is not among the first m with probability n/m. One draw for it
// saves a draw for each request (Li, "Reservoir-sampling algorithms of time complexity
// O(n(1+log(N/n)))", 1994).
func (s *slot) draw(r *random.Source) {
	u := float64(r.Next()>>11+1) / (1 << 53) // in (0, 1]
	s.next = uint64(min(float64(s.n)/u, 1<<62)) + 1
}

// widen doubles the length of the slots.
func (t *thinner) widen() {
	n := 0
	for pair := range slices.Chunk(t.slots, 2) {
		one := pair[0]
		if len(pair) == 2 {
			one.merge(&pair[1], &t.random)
		}
		t.slots[n] = one
		n++
	}
	clear(t.slots[n:])
	t.shift++
}

// merge adds another slot.
func (s *slot) merge(other *slot, r *random.Source) {
	if other.n == 0 {
		return
	}
	s.n += other.n
	if other.slowest.Took > s.slowest.Took || s.n == other.n {
		s.slowest = other.slowest
	}
	if random.Below(r.Next(), s.n) < other.n {
		s.chosen = other.chosen
	}
	s.draw(r)
}

// merge adds another thinner with the same number of slots, which it changes.
func (t *thinner) merge(other *thinner) {
	for t.shift < other.shift {
		t.widen()
	}
	for other.shift < t.shift {
		other.widen()
	}
	for i := range t.slots {
		t.slots[i].merge(&other.slots[i], &t.random)
	}
}

// points returns the kept requests, sorted by time.
func (t *thinner) points() []Moment {
	if t == nil {
		return nil
	}
	var points []Moment
	for _, s := range t.slots {
		if s.n > 0 {
			points = append(points, s.slowest)
		}
		if s.n > 1 && s.chosen != s.slowest {
			points = append(points, s.chosen)
		}
	}
	slices.SortStableFunc(points, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	return points
}
