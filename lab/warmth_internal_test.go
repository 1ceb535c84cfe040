package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/lab/internal/noisetest"
	"github.com/weirhq/weir/load"
)

// A course is the cost of a service by the time since its start, in windows. A round of warm-up has roundWindows.
type course struct {
	name string
	cost func(random *rand.Rand) func(window int) float64
	warm func(window int) bool // whether the cost is within 5% of its end
}

func steady(*rand.Rand) func(int) float64 { return func(int) float64 { return 1 } }

// cooling is a cost that falls by the factor to 1, like that of a program whose parts are compiled one after the other.
func cooling(name string, by float64, windows int) course {
	cost := func(window int) float64 { return 1 + (by-1)*math.Exp(-float64(window)/float64(windows)) }
	return course{name, func(*rand.Rand) func(int) float64 { return cost }, func(window int) bool { return cost(window) <= 1.05 }}
}

// plateau is the cost of a service that becomes faster after a time without a change, as 40 42 40 64 76 82 requests in
// successive seconds. A round is a second.
func plateau(*rand.Rand) func(int) float64 {
	perSecond := []float64{40, 42, 40, 64, 76, 82}
	return func(window int) float64 { return 82 / perSecond[min(window/roundWindows, len(perSecond)-1)] }
}

// warmed has percentages of simulated runs, and the mean number of rounds.
type warmed struct {
	extended float64
	cold     float64 // more than 5% slower after the warm-up than in the end, and not marked
	marked   float64 // still falling after the last round
	rounds   float64
}

// warmedUp simulates runs of at most six rounds.
func warmedUp(random *rand.Rand, c course, noise noisetest.Model, runs int) (r warmed) {
	const most, each = 6, roundWindows
	for range runs {
		cost, deviations := c.cost(random), noise.Of(random, most*each)
		window := 0
		rounds, warming, _ := warmRounds(most, func(skip int) (falls, ok bool) {
			w := warmth{skip: skip}
			for range each {
				w.add(cost(window) * (1 + deviations[window]))
				window++
			}
			return w.falls(), true
		})
		share := 100 / float64(runs)
		r.rounds += float64(rounds) / float64(runs)
		if rounds > 1 {
			r.extended += share
		}
		if warming {
			r.marked += share
		} else if !c.warm(window) {
			r.cold += share
		}
	}
	return r
}

// TestWarmUpIsExtendedWhileTheServiceWarmsUp simulates runs. With WEIR_SOAK it prints the table of
// docs/decisions/runs-not-requests.md.
func TestWarmUpIsExtendedWhileTheServiceWarmsUp(t *testing.T) {
	const runs = 2000
	always := func(int) bool { return true }
	noises := noisetest.Named("even", "independent, 4%", "outliers", "drift", "step of 15%", "AR(0.8), 4%")
	for _, c := range []course{
		{"does not change", steady, always},
		cooling("twice as slow, 0.25 rounds", 2, roundWindows/4),
		cooling("twice as slow, 1 round", 2, roundWindows),
		cooling("twice as slow, 3 rounds", 2, 3*roundWindows),
		cooling("1.3 times as slow, 1 round", 1.3, roundWindows),
		{"40 42 40 64 76 82", plateau, func(window int) bool { return window > 5*roundWindows }},
	} {
		row := "| " + c.name + " |"
		for i, noise := range noises {
			r := warmedUp(rand.New(rand.NewPCG(uint64(i), 8)), c, noise, runs)
			row += fmt.Sprintf(" %.0f, %.0f, %.0f, %.1f |", r.extended, r.cold, r.marked, r.rounds)
			switch {
			case c.name == "does not change" && r.extended > 20:
				t.Errorf("with noise that is %s, %.1f%% of the runs are extended, and nothing warms up", noise.Name, r.extended)
			case c.name == "twice as slow, 1 round" && r.extended < 80:
				t.Errorf("with noise that is %s, %.1f%% of the runs are extended, want more", noise.Name, r.extended)
			}
		}
		if os.Getenv("WEIR_SOAK") != "" {
			fmt.Println(row)
		}
	}
}

// TestShortWarmUpsAreNotExtended lets the costs of a round fall as steeply as they can, and compares the shortest warm-up
// that is extended with the page.
func TestShortWarmUpsAreNotExtended(t *testing.T) {
	shortest := func(closed bool) time.Duration {
		used := time.Duration(0)
		c := roundCosts{closed: closed, cpu: func() time.Duration { return used }, every: shortestWindow,
			byTime: warmth{skip: firstWindows}, byCPU: warmth{skip: firstWindows}}
		p := load.Progress{}
		for n := int64(1); n < 100; n++ {
			p.Elapsed += shortestWindow
			p.Requests += n
			if !closed {
				used += shortestWindow
			}
			if c.look(p); c.byTime.falls() || c.byCPU.falls() {
				return p.Elapsed
			}
		}
		return 0
	}
	text, err := os.ReadFile("../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		fmt.Sprintf("A warm-up of less than %d ms, or %d ms with a pace, is not extended", shortest(true).Milliseconds(),
			shortest(false).Milliseconds()),
		fmt.Sprintf("without `load.duration` for at most %.0f s", extension.Seconds()),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/lab.md does not say %q", want)
		}
	}
}
