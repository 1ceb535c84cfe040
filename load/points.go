package load

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirhq/weir/load/internal/request"
)

// A thinner keeps some of the requests of a run, so that a picture of them shows
// what all would: of each slot of time the slowest request that began in it, and
// one by chance. All slots are equally long, and when a run is longer than they
// are together, each two become one. It belongs to one goroutine, and the nil
// thinner keeps nothing.
type thinner struct {
	slots  []slot
	shift  int // a slot is 1<<shift nanoseconds long
	random request.Random
}

// A slot is a stretch of time. With one request its slowest is its chosen.
type slot struct {
	n               uint64 // requests that began in it
	next            uint64 // of these, which is the next to be the chosen one
	slowest, chosen moment
}

// A moment is a Point that is not yet written for others.
type moment struct {
	at, took time.Duration
	status   int32
}

// shortestSlot is how long slots are at first: 65 us.
const shortestSlot = 16

// newThinner returns one that keeps so many at most.
func newThinner(most int, random request.Random) *thinner {
	if most < 2 {
		return nil
	}
	return &thinner{slots: make([]slot, most/2), shift: shortestSlot, random: random}
}

// record keeps a request, if it is one to keep.
func (t *thinner) record(m moment) {
	at := uint64(max(m.at, 0))
	for at>>t.shift >= uint64(len(t.slots)) {
		t.widen()
	}
	s := &t.slots[at>>t.shift]
	s.n++
	if m.took > s.slowest.took || s.n == 1 {
		s.slowest = m
	}
	if s.n >= s.next {
		s.chosen = m
		s.draw(&t.random)
	}
}

// draw decides which request is the next to be chosen, so that each of those that
// have come is it with the same chance: for that the next one is not among the
// first m with a chance of n/m. To draw it at once saves a draw for each request
// (Li, "Reservoir-sampling algorithms of time complexity O(n(1+log(N/n)))", 1994).
func (s *slot) draw(r *request.Random) {
	u := float64(r.Next()>>11+1) / (1 << 53) // above 0, up to 1
	s.next = uint64(min(float64(s.n)/u, 1<<62)) + 1
}

// widen makes the slots twice as long.
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

// merge adds what another slot has.
func (s *slot) merge(other *slot, r *request.Random) {
	if other.n == 0 {
		return
	}
	s.n += other.n
	if other.slowest.took > s.slowest.took || s.n == other.n {
		s.slowest = other.slowest
	}
	if request.Below(r.Next(), s.n) < other.n {
		s.chosen = other.chosen
	}
	s.draw(r)
}

// merge adds what another thinner with as many slots has, which is changed.
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

// points returns what was kept, in the order of time.
func (t *thinner) points() []Point {
	if t == nil {
		return nil
	}
	var points []Point
	for _, s := range t.slots {
		if s.n > 0 {
			points = append(points, s.slowest.point())
		}
		if s.n > 1 && s.chosen != s.slowest {
			points = append(points, s.chosen.point())
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	return points
}

func (m moment) point() Point {
	return Point{At: m.at.Seconds(), Latency: float64(m.took) / 1e3, Status: int(m.status)}
}
