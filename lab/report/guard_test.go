package report_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// guarded returns the result of ten blocks with two conditions, in which the change
// uses that many microseconds of CPU per request and the base 100.
func guarded(t *testing.T, cpu float64) *guard.Result {
	t.Helper()
	var conditions []guard.Condition
	for _, text := range []string{"CPU per request > 5%", "failed requests > 1%"} {
		c, err := guard.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	r := &guard.Result{Base: "main (1a2b3c4 a *subject*)", Elapsed: 75 * time.Second, Seed: 3, Load: "load: {}\n"}
	d := guard.NewDecision(conditions)
	for i := range 10 {
		run := func(cpu float64, number int) *results.Run {
			return &results.Run{Number: number, Outcome: results.Done, Usage: results.Usage{Seconds: 1, CPUSeconds: cpu / 1e3},
				Load: &load.Result{Sent: 1000, Requests: 1000, Status: map[string]int64{"2xx": 995}}}
		}
		b := guard.Block{Pairs: []guard.Pair{{Base: run(100+float64(i%3), 2*i+1+i%2), Change: run(cpu, 2*i+2-i%2)}}, Share: float64(i+1) / 10}
		if err := d.Add(b); err != nil {
			t.Fatal(err)
		}
		r.Blocks = append(r.Blocks, b)
	}
	r.Answer, r.Conditions = d.Answer(), d.Judged()
	return r
}

// dead returns the result of a guard whose change has died.
func dead() *guard.Result {
	return &guard.Result{Answer: guard.Worse, Failure: &guard.Failure{Block: 1, Run: &results.Run{Outcome: results.Died,
		Error: "the service has ended before it was ready", Exit: "exit status 3", LastOutput: "no\n<database>\x1b\n"}}}
}

// guardReport returns a report.
func guardReport(t *testing.T, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGuardReportBeginsWithTheAnswer(t *testing.T) {
	t.Parallel()
	for cpu, want := range map[float64]string{
		130: "worse: CPU per request +28.7% (+27.5% to +",
		100: "fine: CPU per request -1.0% (-",
		106: "undecided: CPU per request +5.0% (+",
	} {
		r := guarded(t, cpu)
		text := guardReport(t, func(b *strings.Builder) error { return report.Guard(b, r, report.Style{Width: 120}) })
		if !strings.HasPrefix(text, want) {
			t.Errorf("got %s\nwant %s", text, want)
		}
		for _, part := range []string{"10 blocks in 1 min 15 s\n", "failed requests > 1%",
			"requests not answered with 2xx: 0.500% of the base, 0.500% of the change\n"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing in\n%s", part, text)
			}
		}
		t.Log(text)
		md := guardReport(t, func(b *strings.Builder) error { return report.GuardMarkdown(b, r) })
		for _, part := range []string{"### weir lab guard: " + string(r.Answer) + "\n\n" + string(r.Answer) + ": CPU",
			"| CPU per request \\> 5% |", `main (1a2b3c4 a \*subject\*)`, "| 10 | change |"} {
			if !strings.Contains(md, part) {
				t.Errorf("%q is missing in\n%s", part, md)
			}
		}
	}
}

func TestGuardJUnitHasACaseOfEachCondition(t *testing.T) {
	t.Parallel()
	type suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	for _, test := range []struct {
		result *guard.Result
		want   string
	}{
		{guarded(t, 130), "2 tests, 1 failures, 0 skipped: CPU per request > 5% failed, failed requests > 1%"},
		{guarded(t, 106), "2 tests, 0 failures, 1 skipped: CPU per request > 5%, failed requests > 1%"},
		{guarded(t, 100), "2 tests, 0 failures, 0 skipped: CPU per request > 5%, failed requests > 1%"},
		{dead(), "1 tests, 1 failures, 0 skipped: the change serves failed"},
	} {
		text := guardReport(t, func(b *strings.Builder) error { return report.GuardJUnit(b, test.result) })
		var s suite
		if err := xml.Unmarshal([]byte(text), &s); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		var names []string
		for _, c := range s.Cases {
			if c.Failure != nil {
				c.Name += " failed"
			}
			names = append(names, c.Name)
		}
		got := fmt.Sprintf("%d tests, %d failures, %d skipped: %s", s.Tests, s.Failures, s.Skipped, strings.Join(names, ", "))
		if got != test.want {
			t.Errorf("got %s\nwant %s in\n%s", got, test.want, text)
		}
	}
}

func TestGuardOfADeadChangeShowsItsOutput(t *testing.T) {
	t.Parallel()
	const sentence = "worse: the change did not serve in block 1, and the base did: died: the service has ended before it was ready " +
		"(exit status 3); 0 blocks in 0 s"
	text := guardReport(t, func(b *strings.Builder) error { return report.Guard(b, dead(), report.Style{}) })
	if want := sentence + "\nits last output:\nno\n<database>\\x1b\n"; !strings.HasPrefix(text, want) {
		t.Errorf("got %q\nwant %q", text, want)
	}
	md := guardReport(t, func(b *strings.Builder) error { return report.GuardMarkdown(b, dead()) })
	if !strings.Contains(md, "```\nno\n<database>\\x1b\n```\n") {
		t.Errorf("no output in\n%s", md)
	}
	annotation := guardReport(t, func(b *strings.Builder) error { return report.GuardAnnotation(b, dead()) })
	if want := "::error title=weir lab guard::" + sentence + "\n"; annotation != want {
		t.Errorf("got %q, want %q", annotation, want)
	}
}

func TestGuardHistoryHasARowOfEachGuard(t *testing.T) {
	t.Parallel()
	r := guarded(t, 130)
	r.Started, r.Commit = time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC), "1a2b3c4"
	got := guardReport(t, func(b *strings.Builder) error { return report.GuardHistory(b, r, true) })
	const want = "time,commit,base,answer,blocks,CPU per request,CPU per request of the base,CPU per request ratio," +
		"failed requests,failed requests of the base,failed requests difference\n" +
		"2026-11-29T08:00:00Z,1a2b3c4,main (1a2b3c4 a *subject*),worse,10,130,101,1.28719,0.005,0.005,0\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	second := guardReport(t, func(b *strings.Builder) error { return report.GuardHistory(b, r, false) })
	if _, row, _ := strings.Cut(want, "\n"); second != row {
		t.Errorf("got %s, want the row alone", second)
	}
}

func TestGuardAnnotationIsEscaped(t *testing.T) {
	t.Parallel()
	for cpu, want := range map[float64]string{130: "::error title=weir lab guard::worse: CPU per request +28.7%25 (",
		106: "::warning ", 100: "::notice "} {
		got := guardReport(t, func(b *strings.Builder) error { return report.GuardAnnotation(b, guarded(t, cpu)) })
		if !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("got %q, want %q…", got, want)
		}
	}
}
