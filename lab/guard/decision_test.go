package guard_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// measured returns a run with so many microseconds of CPU per request, and so many of
// 1,000 requests without a response of 2xx.
func measured(cpu float64, without2xx int64) *results.Run {
	const sent = 1000
	return &results.Run{Outcome: results.Done, Usage: results.Usage{Seconds: 1, CPUSeconds: cpu * sent / 1e6},
		Load: &load.Result{Sent: sent, Requests: sent, Status: map[string]int64{"2xx": sent - without2xx}}}
}

func conditions(t *testing.T, texts ...string) (all []guard.Condition) {
	t.Helper()
	for _, text := range texts {
		c, err := guard.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// decide adds blocks until there is an answer, at most ten.
func decide(t *testing.T, d *guard.Decision, base, change func(block int) *results.Run) int {
	t.Helper()
	const most = 10
	for block := 1; block <= most; block++ {
		if err := d.Add(blockOf(base(block), change(block), float64(block)/most)); err != nil {
			t.Fatal(err)
		}
		if d.Answer() != guard.Undecided {
			return block
		}
	}
	return most
}

func constant(r *results.Run) func(int) *results.Run { return func(int) *results.Run { return r } }

func TestAnswersOfConditions(t *testing.T) {
	t.Parallel()
	const cpu, failed = "CPU per request > 5%", "failed requests > 1%"
	wavering := func(block int) *results.Run { return measured(100+10*float64(block%2), 0) }
	for _, test := range []struct {
		name       string
		conditions []string
		change     func(int) *results.Run
		want       guard.Answer
		blocks     int
	}{
		{"equal", []string{cpu}, constant(measured(100, 0)), guard.Fine, 7},
		{"within the bound", []string{cpu}, constant(measured(104, 0)), guard.Fine, 7},
		{"beyond the bound", []string{cpu}, constant(measured(106, 0)), guard.Worse, 7},
		{"both", []string{cpu}, wavering, guard.Undecided, 10},
		{"failures within the bound", []string{failed}, constant(measured(100, 9)), guard.Fine, 7},
		{"failures beyond the bound", []string{failed}, constant(measured(100, 11)), guard.Worse, 7},
		{"one of two is worse", []string{cpu, failed}, constant(measured(100, 11)), guard.Worse, 7},
		{"both of two are fine", []string{cpu, failed}, constant(measured(100, 1)), guard.Fine, 7},
		{"one of two is undecided", []string{failed, cpu}, wavering, guard.Undecided, 10},
	} {
		d := guard.NewDecision(conditions(t, test.conditions...))
		blocks := decide(t, d, constant(measured(100, 0)), test.change)
		if d.Answer() != test.want || blocks != test.blocks {
			t.Errorf("%s: %s after %d blocks, want %s after %d", test.name, d.Answer(), blocks, test.want, test.blocks)
		}
	}
}

// blockOf returns a block of one pair.
func blockOf(base, change *results.Run, share float64) guard.Block {
	return guard.Block{Pairs: []guard.Pair{{Base: base, Change: change}}, Share: share}
}

// TestDuetsCancelTheDifferenceOfHalves has halves of which one needs 30% more time, and a change that needs 10% more.
func TestDuetsCancelTheDifferenceOfHalves(t *testing.T) {
	t.Parallel()
	d := guard.NewDecision(conditions(t, "CPU per request > 5%"))
	for block := range 10 {
		if err := d.Add(guard.Block{Pairs: []guard.Pair{{Base: measured(100, 0), Change: measured(143, 0)},
			{Base: measured(130, 0), Change: measured(110, 0)}}, Share: float64(block+1) / 10}); err != nil {
			t.Fatal(err)
		}
	}
	if j := d.Judged()[0]; j.Answer != guard.Worse || math.Abs(j.Estimate-math.Log(1.1)) > 1e-9 {
		t.Errorf("%s, estimate %g, want worse by 10%%", j.Answer, math.Expm1(j.Estimate))
	}
}

var unmeasured = &results.Run{Outcome: results.Failed, Error: "no free port"}

// TestUnmeasuredBlocksAreLeftOut has blocks that were not measured, of which the third ends
// the guard.
func TestUnmeasuredBlocksAreLeftOut(t *testing.T) {
	t.Parallel()
	d := guard.NewDecision(conditions(t, "CPU per request > 5%"))
	fine := measured(100, 0)
	for i, b := range []guard.Block{blockOf(fine, unmeasured, 0), blockOf(unmeasured, fine, 0)} {
		if err := d.Add(b); err != nil {
			t.Errorf("block %d: %v", i+1, err)
		}
	}
	err := d.Add(blockOf(fine, unmeasured, 0))
	if err == nil || err.Error() != "the change was not measured: no free port" {
		t.Errorf("the third block: %v", err)
	}
	if j := d.Judged()[0]; !math.IsNaN(j.Estimate) {
		t.Errorf("the estimate is %g, want none", j.Estimate)
	}
}

// TestDeadServiceIsNoMeasurement checks the answer if a side does not serve.
func TestDeadServiceIsNoMeasurement(t *testing.T) {
	t.Parallel()
	dead := &results.Run{Outcome: results.Died, Error: "the service has ended", Exit: "exit status 3"}
	fine := measured(100, 0)
	for _, test := range []struct {
		name         string
		base, change *results.Run
		want         guard.Answer
		err          string
	}{
		{"the change is dead", fine, dead, guard.Worse, ""},
		{"the base is dead", dead, fine, guard.Undecided, "the base failed: nothing to compare the change with: died: the service"},
		{"both are dead", dead, dead, guard.Undecided, "the base failed"},
		{"the change is dead, and the base was not measured", unmeasured, dead, guard.Undecided, ""},
	} {
		d := guard.NewDecision(conditions(t, "p99 > 5%"))
		err := d.Add(blockOf(test.base, test.change, 0.1))
		if d.Answer() != test.want || (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
			t.Errorf("%s: %s, %v; want %s, %q", test.name, d.Answer(), err, test.want, test.err)
		}
		if run := new(guard.RunError); err != nil && !errors.As(err, &run) {
			t.Errorf("%s: %T is no RunError", test.name, err)
		}
	}
}

// TestUnansweredRequestsCount has runs in which requests had no response, so that CPU
// per request has no meaning.
func TestUnansweredRequestsCount(t *testing.T) {
	t.Parallel()
	unanswered := measured(100, 0)
	unanswered.Load.Requests -= 100
	d := guard.NewDecision(conditions(t, "CPU per request > 5%"))
	if decide(t, d, constant(measured(100, 0)), constant(unanswered)); d.Answer() != guard.Worse {
		t.Errorf("the change: %s, want worse", d.Answer())
	}
	d = guard.NewDecision(conditions(t, "CPU per request > 5%"))
	err := d.Add(blockOf(unanswered, measured(100, 0), 0.1))
	if err == nil || !strings.Contains(err.Error(), "the base left 100 of 1000 requests without a response") {
		t.Errorf("the base: %v", err)
	}
}

// TestOutlookNamesMoreBlocks has differences of 0 and 9%, whose mean is near the bound,
// and of 0 and 6%.
func TestOutlookNamesMoreBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		high        float64
		least, most int
	}{{110, 0, 0}, {107, 1, 90}} {
		d := guard.NewDecision(conditions(t, "CPU per request > 5%"))
		decide(t, d, constant(measured(100, 0)), func(block int) *results.Run {
			return measured(100+(test.high-100)*float64(block%2), 0)
		})
		if more := d.Judged()[0].More; d.Answer() != guard.Undecided || more < test.least || more > test.most {
			t.Errorf("differences of 0 and %g: %s, %d more, want undecided and %d to %d", test.high-100, d.Answer(), more,
				test.least, test.most)
		}
	}
}
