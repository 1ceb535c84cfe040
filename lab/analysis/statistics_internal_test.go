package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

// The worked example of many textbooks, and results of p.adjust in R.
func TestHolmMatchesReferenceValues(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.02}, []float64{0.02}},
		{[]float64{0.5, 0.6, 0.7}, []float64{1, 1, 1}},
		{[]float64{0.01, 0.01, 0.01}, []float64{0.03, 0.03, 0.03}},
		{nil, nil},
	} {
		var family []*Difference
		for _, p := range c.p {
			family = append(family, &Difference{P: &p})
		}
		correct(family)
		for i, d := range family {
			if math.Abs(*d.Corrected-c.want[i]) > 1e-12 {
				t.Errorf("of %v, the corrected p of %d is %v, want %v", c.p, i, *d.Corrected, c.want[i])
			}
		}
	}
}

// Tables of the U test list, two-sided at 0.05, the largest significant U.
func TestLeftOutMatchesTablesOfUTest(t *testing.T) {
	for _, c := range []struct{ n, m, largest int }{
		{3, 3, -1}, {4, 4, 0}, {5, 5, 2}, {3, 5, 0}, {5, 8, 6}, {6, 6, 5}, {8, 10, 17}, {10, 10, 23}, {12, 15, 49}, {20,
			20, 127}, {10, 20, 55},
	} {
		if got := leftOut(c.n, c.m) - 1; got != c.largest {
			t.Errorf("of %d and %d runs, the largest significant U is %d, want %d", c.n, c.m, got, c.largest)
		}
		if a, b := leftOut(c.n, c.m), leftOut(c.m, c.n); a != b {
			t.Errorf("of %d and %d runs %d are left out, the other way %d", c.n, c.m, a, b)
		}
	}
	if exact, normal := leftOut(50, 50), leftOut(50, 51); normal-exact < 0 || normal-exact > 40 {
		t.Errorf("of 50 and 50 runs %d are left out, of 50 and 51, as normal, %d", exact, normal)
	}
}

// waysOf is compared with an enumeration of all orders.
func TestWaysMatchTheEnumeration(t *testing.T) {
	const n, m = 4, 5
	want := make([]float64, n*m/2+1)
	for order := range 1 << (n + m) { // a set bit is an element of the first sample
		u, first, second := 0, 0, 0
		for i := range n + m {
			if order>>i&1 == 1 {
				first++
				u += second
			} else {
				second++
			}
		}
		if first == n && u < len(want) {
			want[u]++
		}
	}
	if got := waysOf(n, m); !slices.Equal(got, want) {
		t.Errorf("waysOf(%d, %d) = %v, want %v", n, m, got, want)
	}
}

// The interval contains 1 exactly if the independent implementation of the test
// finds no difference; and it scales with the values.
func TestIntervalAgreesWithTheTest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sample := func(n int, middle float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = middle * math.Exp(0.1*random.NormFloat64())
		}
		return v
	}
	differ := 0
	for range 2000 {
		base, values := sample(4+random.IntN(15), 10), sample(4+random.IntN(15), 10*(1+0.2*random.Float64()))
		i := ratioInterval(base, values)
		p := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(base), &benchmath.DefaultThresholds),
			benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)).P
		if i == nil {
			t.Fatalf("no interval of %v and %v", base, values)
		}
		if outside := i.Low > 1 || i.High < 1; outside != (p <= alpha) {
			t.Fatalf("the interval is %+v and p is %v, of %v and %v", *i, p, base, values)
		} else if outside {
			differ++
		}
		for j := range values {
			values[j] *= 3
		}
		if three := ratioInterval(base, values); math.Abs(three.Low/i.Low-3) > 1e-9 ||
			math.Abs(three.High/i.High-3) > 1e-9 {
			t.Fatalf("of values three times as large the interval is %+v, want three times %+v", *three, *i)
		}
	}
	if differ < 200 || differ > 1800 {
		t.Errorf("%d of 2000 pairs differ: the test does not see both", differ)
	}
}

// The interval contains the true ratio as often as it promises.
func TestIntervalCoversTheTrueRatio(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const truth, times = 1.2, 4000
	covered := 0
	for range times {
		base, values := make([]float64, 10), make([]float64, 10)
		for i := range base {
			base[i], values[i] = math.Exp(random.ExpFloat64()), truth*math.Exp(random.ExpFloat64())
		}
		if i := ratioInterval(base, values); i.Low <= truth && truth <= i.High {
			covered++
		}
	}
	if share := float64(covered) / times; share < 0.945 || share > 0.97 {
		t.Errorf("the interval has the true ratio in %.1f%% of samples, want 95.7%%", 100*share)
	}
}

func TestIntervalNeedsFourPositiveValues(t *testing.T) {
	for _, c := range []struct{ base, values []float64 }{
		{[]float64{1, 2, 3}, []float64{1, 2, 3}},
		{[]float64{0, 2, 3, 4}, []float64{1, 2, 3, 4}},
		{[]float64{1, 2, 3, 4}, []float64{-1, 2, 3, 4}},
		{[]float64{1e-300, 2e-300, 3e-300, 4e-300}, []float64{1e300, 1e300, 1e300, 1e300}},
	} {
		if i := ratioInterval(c.base, c.values); i != nil {
			t.Errorf("the ratio of %v to %v has the interval %+v, want none", c.values, c.base, *i)
		}
	}
}

func TestNeededRunsGrowWithTheFamily(t *testing.T) {
	blocks := func(runs int) trial {
		return trial{test: inBlocks{contest: contest{arrangement: &arrangement{blocks: []arrangedBlock{{runs: runs}}}}}}
	}
	twins, alone, sides := blocks(3), blocks(2), trial{test: betweenSides{}}
	for family, want := range map[int][3]int{1: {4, 6, 4}, 2: {4, 7, 5}, 4: {5, 8, 5}, 5: {5, 8, 5}, 12: {6, 9, 6},
		24: {7, 10, 7}} {
		got := [3]int{neededRuns(twins.smallestOf, family), neededRuns(alone.smallestOf, family), neededRuns(sides.smallestOf, family)}
		if got != want {
			t.Errorf("%d comparisons need %d runs, without a twin and between sessions; want %d", family, got, want)
		}
	}
}

func TestOutliersAreMarked(t *testing.T) {
	for _, c := range []struct {
		values []float64
		far    []int // indices of outliers
	}{
		{[]float64{10, 11, 12, 13, 14, 15, 16}, nil},
		{[]float64{10, 11, 12, 13, 14, 15, 100}, []int{6}},
		{[]float64{-100, 11, 12, 13, 14, 15, 100}, []int{0, 6}},
		{[]float64{7, 7, 7, 7, 7, 7, 100}, nil},
		{[]float64{1, 2, 3, 4, 5, 1000}, nil},
	} {
		values := make([]Value, len(c.values))
		for i, v := range c.values {
			values[i].Value = v
		}
		markOutliers(values)
		for i, v := range values {
			if v.Outlier != slices.Contains(c.far, i) {
				t.Errorf("of %v, %v is an outlier: %v", c.values, v.Value, v.Outlier)
			}
		}
	}
}

// trend is compared with an enumeration of all orders of eight values.
func TestTrendMatchesTheEnumeration(t *testing.T) {
	falls := []float64{8, 7, 6, 5, 4, 3, 2, 1}
	if p, rises := trend(falls); p > 0.001 || rises {
		t.Errorf("%v: p %v, rises %v", falls, p, rises)
	}
	if p, _ := trend([]float64{5, 5, 5, 5, 5, 5, 5, 5}); p != 1 {
		t.Errorf("no change at all: p %v, want 1", p)
	}
	if p, _ := trend(falls[:7]); p != 1 {
		t.Errorf("seven values: p %v, want 1", p)
	}
	counts := map[float64]int{} // number of orders, by the p that trend returns for them
	all := 0
	eachOrder([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 8, func(v []float64) {
		p, _ := trend(v)
		counts[p]++
		all++
	})
	for p := range counts {
		asRare := 0
		for other, n := range counts {
			if other <= p {
				asRare += n
			}
		}
		if exact := float64(asRare) / float64(all); math.Abs(exact-p) > 0.02 {
			t.Errorf("p is %.4f, and %.4f of all orders are as steady", p, exact)
		}
	}
}

// eachOrder calls f with each order of v's first n values (Heap's algorithm).
func eachOrder(v []float64, n int, f func([]float64)) {
	if n <= 1 {
		f(v)
		return
	}
	for i := range n {
		eachOrder(v, n-1, f)
		j := 0
		if n%2 == 0 {
			j = i
		}
		if i < n-1 {
			v[j], v[n-1] = v[n-1], v[j]
		}
	}
}

// The values are those of R's fisher.test.
func TestFisherMatchesValuesOfR(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		want       float64
	}{
		{6, 12, 0, 12, 0.0137},
		{3, 4, 1, 4, 0.4857},
		{0, 10, 0, 10, 1},
		{10, 10, 0, 10, 1.083e-05},
	} {
		if got := fisher(c.a, c.n, c.b, c.m); math.Abs(got-c.want) > 0.0005*max(c.want, 0.1) {
			t.Errorf("fisher(%d of %d, %d of %d) = %v, want %v", c.a, c.n, c.b, c.m, got, c.want)
		}
	}
}
