package experiments_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/experiments"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
)

// parse returns a built-in experiment.
func parse(t *testing.T, name string) *experiment.Experiment {
	t.Helper()
	text, err := experiments.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Parse(name+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestNamesListAllExperiments(t *testing.T) {
	got := experiments.Names()
	want := []string{"csv-node", "doors", "fd-limit", "gc", "log-cost", "logging-call", "path-growth", "replay", "router", "slow-consumer",
		"three-events"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnknownNameIsReported(t *testing.T) {
	_, err := experiments.Read("three-event")
	if err == nil || !strings.Contains(err.Error(), `"three-event"`) || !strings.Contains(err.Error(), "three-events") {
		t.Errorf("got %v, want the name and those that there are", err)
	}
}

// Each experiment is complete and makes enough runs to answer its question, also in its short form.
func TestEveryExperimentCanBeRun(t *testing.T) {
	for _, name := range experiments.Names() {
		t.Run(name, func(t *testing.T) {
			e := parse(t, name)
			if e.Name != name || !strings.HasSuffix(e.Title, "?") || e.Question == "" || e.Repeats < 10 {
				t.Errorf("got name %q, title %q, question %q, %d repeats; want those of a whole experiment", e.Name,
					e.Title, e.Question, e.Repeats)
			}
			if name == "replay" { // compares only with --against
				if err := e.Set("matrix.service.command", "{base: ./old, change: ./new}"); err != nil {
					t.Fatal(err)
				}
			}
			whole := answered(t, e)
			if err := e.Shorten(); err != nil {
				t.Fatal(err)
			}
			short := answered(t, e)
			if len(short) > len(whole) {
				t.Errorf("got %d configurations in short, want at most %d", len(short), len(whole))
			}
			if got, want := compared(short), compared(whole); !slices.Equal(got, want) {
				t.Errorf("the short one compares %q, want all of %q", got, want)
			}
		})
	}
}

// answered returns the configurations of an experiment and checks that its runs are enough for its contrasts.
func answered(t *testing.T, e *experiment.Experiment) []experiment.Case {
	t.Helper()
	cases, err := e.Configurations()
	if err != nil {
		t.Fatal(err)
	}
	contrasts, err := e.Questions()
	if err != nil {
		t.Fatal(err)
	}
	p := analysis.Plan{Contrasts: contrasts, Configurations: len(cases) - 1, Metrics: len(e.Leading())}
	for _, c := range cases {
		if c.Baseline {
			p.Baseline = c.Name
		}
	}
	if needed := p.NeededRuns(); e.Repeats < needed || len(contrasts) == 0 {
		t.Errorf("got %d repeats for %d contrasts in %d metrics, want at least %d", e.Repeats, len(contrasts), p.Metrics,
			needed)
	}
	return cases
}

// compared returns the services of some configurations, by name. In the short
// form, their output may go to fewer places.
func compared(cases []experiment.Case) (services []string) {
	for _, c := range cases {
		for _, l := range c.Labels {
			if l.Setting == "service.args" {
				services = append(services, l.Value)
			}
		}
	}
	slices.Sort(services)
	return slices.Compact(services)
}

// From the start to a report in less than five minutes. Starting, stopping and the build take the rest: a run takes less
// than a second more than its load, except if the log's reader stops.
func TestQuickExperimentsAreQuick(t *testing.T) {
	for _, name := range experiments.Names() {
		e := parse(t, name)
		if err := e.Shorten(); err != nil {
			t.Fatal(err)
		}
		cases, err := e.Configurations()
		if err != nil {
			t.Fatal(err)
		}
		measured := time.Duration(len(cases)*e.Repeats) * (e.WarmUp + e.Load.Duration)
		if most := 200 * time.Second; measured > most || len(e.Profiles) > 0 {
			t.Errorf("%s measures for %v and profiles %v, want %v at most and none", name, measured, e.Profiles, most)
		}
	}
}

// The door is built in the same way in every experiment, because the tests
// build it once.
func TestDoorIsBuiltInOneWay(t *testing.T) {
	want := parse(t, "three-events").Build
	for _, name := range []string{"gc", "logging-call", "slow-consumer"} {
		if got := parse(t, name).Build; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
