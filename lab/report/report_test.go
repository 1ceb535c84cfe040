package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
	"github.com/weirhq/weir/lab/results"
)

// A written report is made once for all tests that only read it.
type written struct {
	once    sync.Once
	make    func() *results.Results
	results *results.Results
	dir     string
}

var wholeWritten, smallWritten, hostileWritten = written{make: whole.make}, written{make: small.make},
	written{make: hostileResults}

func wholeReport(t *testing.T) (*results.Results, string)   { return wholeWritten.get(t) }
func smallReport(t *testing.T) (*results.Results, string)   { return smallWritten.get(t) }
func hostileReport(t *testing.T) (*results.Results, string) { return hostileWritten.get(t) }

// get writes the report at its first call, and logs the time.
func (w *written) get(t *testing.T) (*results.Results, string) {
	t.Helper()
	w.once.Do(func() {
		w.results = w.make()
		a := analysis.Of(w.results)
		var err error
		if w.dir, err = os.MkdirTemp("", "weir-report-*"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := report.Write(w.dir, w.results, a); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d runs with %d samples each: written in %v", len(w.results.Runs), len(w.results.Runs[0].Samples),
			time.Since(began))
	})
	return w.results, w.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.End()
	for _, w := range []*written{&wholeWritten, &smallWritten, &hostileWritten} {
		if w.dir != "" {
			os.RemoveAll(w.dir)
		}
	}
	os.Exit(code)
}

func write(t *testing.T, r *results.Results) string {
	t.Helper()
	dir := t.TempDir()
	if err := report.Write(dir, r, analysis.Of(r)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, names ...string) string {
	t.Helper()
	return testkit.ReadFile(t, filepath.Join(names...))
}

func TestWrittenFilesStaySmall(t *testing.T) {
	_, dir := wholeReport(t)
	for name, most := range map[string]int64{"report.html": 3 << 20, "report.md": 1 << 20, "runs.csv": 1 << 20,
		"samples.csv": 16 << 20, "results.json": 64 << 20, "analysis.json": 4 << 20} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %d kB", name, info.Size()/1000)
		if info.Size() == 0 || info.Size() > most {
			t.Errorf("%s has %d bytes, want at most %d", name, info.Size(), most)
		}
	}
	for _, name := range []string{"requests-per-second", "latency-percentiles", "cpu-per-request", "memory-over-time",
		"log-bytes-over-time", "gc-pauses", "heap-over-time", "log-call-p99"} {
		if svg := read(t, dir, "plots", name+".svg"); !strings.HasSuffix(svg, "</svg>\n") {
			t.Errorf("plots/%s.svg does not end", name)
		}
	}
	if svg := read(t, dir, "plots", "log-call-p99.svg"); !regexp.MustCompile(`<text class="label"[^>]*>\d+ µs</text>`).MatchString(svg) {
		t.Errorf("plots/log-call-p99.svg has no µs among its ticks:\n%.2000q", svg)
	}
}

func TestCSVHasEveryRunAndSample(t *testing.T) {
	r, dir := wholeReport(t)
	rows := readCSV(t, dir, "runs.csv")
	if got, want := len(rows), len(r.Runs)+1; got != want {
		t.Fatalf("runs.csv has %d rows, want %d", got, want)
	}
	column := slices.Index(rows[0], "requests_per_second")
	if column < 0 {
		t.Fatalf("runs.csv has no requests_per_second: %q", rows[0])
	}
	for _, want := range []string{"run", "configuration", "latency_p99_us", "memory_peak_bytes", "log_call_p99_us",
		"log_bytes_per_second"} {
		if !slices.Contains(rows[0], want) {
			t.Errorf("runs.csv has no column %s: %q", want, rows[0])
		}
	}
	for i, row := range rows[1:] {
		if got, err := strconv.ParseFloat(row[column], 64); err != nil || got != r.Runs[i].Load.RequestsPerSecond {
			t.Errorf("run %d: requests_per_second is %q, want %v", i+1, row[column], r.Runs[i].Load.RequestsPerSecond)
		}
	}
	samples := readCSV(t, dir, "samples.csv")
	n := 1
	for _, run := range r.Runs {
		n += len(run.Samples)
	}
	if len(samples) != n {
		t.Errorf("samples.csv has %d rows, want %d: every sample and a header", len(samples), n)
	}
	last, want := samples[len(samples)-1], r.Runs[len(r.Runs)-1].Samples
	if got := want[len(want)-1]; last[5] != strconv.FormatInt(got.RSS, 10) || last[0] != strconv.Itoa(len(r.Runs)) {
		t.Errorf("the last sample is %q, want run %d with rss %d", last, len(r.Runs), got.RSS)
	}
}

func readCSV(t *testing.T, dir, name string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(read(t, dir, name))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestJSONHoldsResultsAndAnalysis(t *testing.T) {
	r, dir := wholeReport(t)
	var got results.Results
	if err := json.Unmarshal([]byte(read(t, dir, "results.json")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Runs) != len(r.Runs) || got.Runs[3].Load.RequestsPerSecond != r.Runs[3].Load.RequestsPerSecond {
		t.Errorf("results.json has %d runs, want the %d of the results", len(got.Runs), len(r.Runs))
	}
	if got.Runs[0].Samples != nil || r.Runs[0].Samples == nil {
		t.Error("results.json has samples, or the results have lost theirs")
	}
	var a analysis.Analysis
	if err := json.Unmarshal([]byte(read(t, dir, "analysis.json")), &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Findings) == 0 {
		t.Error("analysis.json has no findings")
	}
}

// TestReportIsWrittenWholeOrNotAtAll lets the last step before the files are moved fail.
func TestReportIsWrittenWholeOrNotAtAll(t *testing.T) {
	r := small.make()
	dir := write(t, r)
	before := read(t, dir, "report.html")
	r.Title = "another one"
	r.Runs[0].Usage.CPUSeconds = 1
	bad := analysis.Of(r)
	nan := 0.0
	nan /= nan
	bad.Metrics[0].Rows[0].Median = nan // JSON cannot represent it
	if err := report.Write(dir, r, bad); err == nil || !strings.Contains(err.Error(), "analysis.json") {
		t.Fatalf("Write of what JSON cannot have: %v, want an error that names analysis.json", err)
	}
	if read(t, dir, "report.html") != before {
		t.Error("a report that failed has replaced the one before")
	}
	checkNothingLeft(t, dir)
	if err := report.Write(dir, r, analysis.Of(r)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, dir, "report.html"), "another one") {
		t.Error("a second report has not replaced the first")
	}
	checkNothingLeft(t, dir)
}

func checkNothingLeft(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"analysis.json", "plots", "report.html", "report.md", "results.json", "runs.csv", "samples.csv"}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func TestHostileWordsAreEscaped(t *testing.T) {
	r, dir := hostileReport(t)
	_, harmlessDir := smallReport(t)
	page, harmless := read(t, dir, "report.html"), read(t, harmlessDir, "report.html")
	for _, element := range []string{"script", "style", "img", "iframe", "a", "link", "meta", "base", "form"} {
		if got, want := count(t, page, element), count(t, harmless, element); got != want {
			t.Errorf("the page of hostile words has %d <%s>, want %d as another one", got, element, want)
		}
	}
	for i, row := range append(readCSV(t, dir, "runs.csv"), readCSV(t, dir, "samples.csv")[1]) {
		for _, value := range row {
			if value == "" || !strings.ContainsRune("=+-@\t\r\n", rune(value[0])) {
				continue
			}
			if _, err := strconv.ParseFloat(value, 64); err != nil {
				t.Errorf("row %d has %q, which a spreadsheet takes for a formula", i, value)
			}
		}
	}
	plots, err := filepath.Glob(filepath.Join(dir, "plots", "*.svg"))
	if err != nil || len(plots) == 0 {
		t.Fatalf("no plots: %v", err)
	}
	for _, name := range plots {
		svg := read(t, name)
		if strings.Contains(svg, "<script") || strings.Contains(svg, "<img") {
			t.Errorf("%s has an element of the hostile words", name)
		}
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Errorf("%s is not XML: %v", name, err)
		}
	}
	var text bytes.Buffer
	if err := report.Text(&text, r, analysis.Of(r), dir, report.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range text.String() {
		if c != '\n' && (c < ' ' || c > '~') {
			t.Fatalf("the text has %q, want plain ASCII", c)
		}
	}
	md := read(t, dir, "report.md")
	for _, c := range md {
		if c != '\n' && c < ' ' || c == '\u202e' {
			t.Fatalf("report.md has %q", c)
		}
	}
	md = outsideBlocks(md)
	if strings.Contains(md, "\n# head") || strings.Contains(md, "<img") && !strings.Contains(md, `\<img`) {
		t.Error("report.md has a heading or an element of the hostile words")
	}
}

// outsideBlocks returns Markdown without its fenced code.
func outsideBlocks(md string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(md) {
		switch ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]; {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && strings.TrimRight(line, "\n") == fence:
			fence = ""
		case fence == "":
			b.WriteString(line)
		}
	}
	return b.String()
}

// count returns the number of elements with that name.
func count(t *testing.T, page, element string) (n int) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		name, _ := z.TagName()
		if (kind == html.StartTagToken || kind == html.SelfClosingTagToken) && string(name) == element {
			n++
		}
	}
	if !errors.Is(z.Err(), io.EOF) {
		t.Fatal(z.Err())
	}
	return n
}

func TestFormsAgree(t *testing.T) {
	r, dir := smallReport(t)
	a := analysis.Of(r)
	page, md := html.UnescapeString(read(t, dir, "report.html")), strings.ReplaceAll(read(t, dir, "report.md"), `\`, "")
	var text bytes.Buffer
	if err := report.Text(&text, r, a, dir, report.Style{Width: 1000, Color: true}); err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Findings {
		for name, form := range map[string]string{"page": page, "Markdown": md, "text": text.String()} {
			if !strings.Contains(form, f.Text) {
				t.Errorf("the %s does not have the finding %q", name, f.Text)
			}
		}
	}
	if !strings.Contains(text.String(), dir) {
		t.Errorf("the text does not say that the report is in %s", dir)
	}
}

// The page and the Markdown name the tested comparisons, and the number of runs that is needed.
func TestFamilyIsExplained(t *testing.T) {
	r, dir := smallReport(t)
	f := analysis.Of(r).Family
	if f == nil {
		t.Fatal("nothing is tested")
	}
	page, md := html.UnescapeString(read(t, dir, "report.html")), strings.ReplaceAll(read(t, dir, "report.md"), `\`, "")
	want := fmt.Sprintf("with 0.05 as the limit of p: %s of %s. A significant difference requires at least %d runs",
		readable.Things(int64(f.Comparisons), "comparison"), readable.Enumerate(f.Metrics), f.NeededRuns)
	if !strings.Contains(page, want) || !strings.Contains(md, want) {
		t.Errorf("the page or the Markdown lacks %q", want)
	}
}

// The table of measurements has a row for each contrast that is not against the baseline. The baseline's differences that
// are not asked for are in parentheses.
func TestContrastsHaveRows(t *testing.T) {
	more := small
	more.repeats = 8
	r := more.make()
	file := results.Contrast{Configuration: "output=file", Against: "output=null"}
	r.Contrasts = []results.Contrast{file, {Configuration: "output=pipe", Against: "output=file"},
		{Configuration: "output=pipe", Against: "output=file", Than: &file}}
	md := strings.ReplaceAll(read(t, write(t, r), "report.md"), `\`, "")
	for _, want := range []string{
		"\n| requests per second | output=pipe against output=file | - | - | - | -1",
		"\n| requests per second | output=pipe against output=file, than output=file against output=null | - | - | - | +",
		" | (-28.",
		"the effects differ, by a ratio of ",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the Markdown lacks %q:\n%s", want, md[:min(len(md), 6000)])
		}
	}
}

// Parentheses are explained if there are any, and the version is not written
// twice.
func TestFewRunsAreExplained(t *testing.T) {
	few := small.make()
	few.Version, few.Runs = "devel", few.Runs[:2*len(few.Configurations)]
	md := read(t, write(t, few), "report.md")
	for _, want := range []string{"A difference in parentheses was not judged", "- by: weir devel, "} {
		if !strings.Contains(md, want) {
			t.Errorf("the Markdown of two runs each lacks %q", want)
		}
	}
}

// The names of benchmarks are wider than the columns of a table with four of
// them.
func TestLongNamesBreak(t *testing.T) {
	r := small.make()
	r.Lead = []string{"BenchmarkLookup/static time/op"}
	for i := range r.Runs {
		r.Runs[i].Own = []results.Measure{{Name: "BenchmarkLookup/static time/op", Unit: "ns", Value: float64(100 + i)}}
	}
	if page, want := read(t, write(t, r), "report.html"),
		"Benchmark<wbr>Lookup/<wbr>static time/<wbr>op</th>"; !strings.Contains(page, want) {
		t.Errorf("no column of the page is called %q", want)
	}
}

// A terminal of 80 columns has room for the CPU per request and p50.
func TestTextHasCostAndMedian(t *testing.T) {
	for name, get := range map[string]func(*testing.T) (*results.Results, string){"closed loop": smallReport,
		"whole": wholeReport} {
		r, _ := get(t)
		var text bytes.Buffer
		if err := report.Text(&text, r, analysis.Of(r), "", report.Style{}); err != nil {
			t.Fatal(err)
		}
		table, _, _ := strings.Cut(text.String(), "Not in this table")
		table = table[strings.Index(table, "\n\n "):]
		for _, want := range []string{"CPU per", " p50"} {
			if !strings.Contains(table, want) {
				t.Errorf("%s: the table lacks %q:\n%s", name, want, text.String())
			}
		}
	}
}

func TestTextKeepsItsWidth(t *testing.T) {
	r, _ := wholeReport(t)
	a := analysis.Of(r)
	for _, width := range []int{40, 60, 80, 120, 200} {
		var text bytes.Buffer
		if err := report.Text(&text, r, a, "", report.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("at %d characters, a line has %d: %q", width, n, line)
			}
		}
	}
}

// TestProfilesAreShown shows profiles of the test process.
func TestProfilesAreShown(t *testing.T) {
	r, dir := small.make(), t.TempDir()
	for i, c := range r.Configurations[:2] {
		name := "allocs-" + strconv.Itoa(i) + ".pb.gz"
		var b bytes.Buffer
		if err := pprof.Lookup("allocs").WriteTo(&b, 0); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		r.Profiled = append(r.Profiled, results.Run{Configuration: c.Name, Load: r.Runs[i].Load,
			Profiles: []results.Profile{{Kind: "alloc_space", File: name}}})
	}
	r.Profiled = append(r.Profiled, results.Run{Configuration: r.Configurations[2].Name,
		Profiles: []results.Profile{{Kind: "cpu", File: "missing.pb.gz"}}})
	if err := report.Write(dir, r, analysis.Of(r)); err != nil {
		t.Fatal(err)
	}
	page := read(t, dir, "report.html")
	if got := strings.Count(page, `<div class="flames"><svg`); got != 3 {
		t.Errorf("the page has %d flame graphs, want one of each profile and one of their difference", got)
	}
	for _, want := range []string{"TestProfilesAreShown", "missing.pb.gz", "The most expensive functions"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// TestPanelsHaveNoGaps checks the lines over time of a short run, which has
// fewer samples than a chart has pixels.
func TestPanelsHaveNoGaps(t *testing.T) {
	_, dir := smallReport(t)
	_, after, found := strings.Cut(read(t, dir, "report.html"), `<div class="panel">`)
	if !found {
		t.Fatal("the page has no panels")
	}
	panel, _, _ := strings.Cut(after, "</svg>")
	n := 0
	for _, line := range strings.Split(panel, `<path class="c1 line" d="`)[1:] {
		d, _, _ := strings.Cut(line, `"`)
		n++
		if strings.Count(d, "M") != 1 || strings.Count(d, "L") < 10 {
			t.Errorf("the median is drawn as %q, want one line", d)
		}
	}
	if n != 1 {
		t.Errorf("the panel has %d medians, want 1", n)
	}
}

// TestFewResultsCanBeReported writes reports of results in which nearly everything is
// missing.
func TestFewResultsCanBeReported(t *testing.T) {
	one := small.make()
	one.Runs = one.Runs[:1]
	failed := small.make()
	for i := range failed.Runs {
		failed.Runs[i] = results.Run{Number: i + 1, Configuration: failed.Runs[i].Configuration,
			Outcome:    results.NeverReady,
			LastOutput: "no such file"}
	}
	own := small.make()
	for i := range own.Runs {
		own.Runs[i].Load, own.Runs[i].Samples, own.Runs[i].Usage, own.Runs[i].Go = nil, nil, results.Usage{}, nil
	}
	for name, r := range map[string]*results.Results{"nothing": {}, "one run": one, "only failures": failed,
		"own measures alone": own} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, r)
			page, _, _ := strings.Cut(read(t, dir, "report.html"), "<script>")
			if i := max(strings.Index(page, "NaN"), strings.Index(page, "Inf")); i >= 0 {
				t.Errorf("the page has a number that is none: %q", page[max(0, i-60):i+20])
			}
			if name == "only failures" && !strings.Contains(read(t, dir, "report.html"), "no such file") {
				t.Error("the page does not have the last output of a run that failed")
			}
		})
	}
}

// The mark beside a finding does not contradict its sentence: one that is undecided has none of no difference.
func TestMarksAgreeWithTheirFindings(t *testing.T) {
	c := analysis.Compare(small.make(), small.make())
	c.Findings = []analysis.Finding{{Verdict: analysis.Noise, Text: "It is undecided whether x differs."}}
	var md, page bytes.Buffer
	if err := errors.Join(report.ComparisonMarkdown(&md, c), report.ComparisonHTML(&page, c)); err != nil {
		t.Fatal(err)
	}
	for form, got := range map[string]string{"Markdown": md.String(), "page": page.String()} {
		if strings.Contains(got, "no difference") || !strings.Contains(got, "no verdict") {
			t.Errorf("the %s has no mark of an undecided finding:\n%s", form, got)
		}
	}
}

func TestComparisonShowsDifferences(t *testing.T) {
	a, b := small.make(), small.make()
	for i := range b.Runs {
		b.Runs[i].Load.RequestsPerSecond *= 1.5
	}
	b.Machine.CPUs = 64
	b.Configurations[0].Name = "another"
	c := analysis.Compare(a, b)
	var text, md, page bytes.Buffer
	if err := report.Comparison(&text, c, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := report.ComparisonMarkdown(&md, c); err != nil {
		t.Fatal(err)
	}
	if err := report.ComparisonHTML(&page, c); err != nil {
		t.Fatal(err)
	}
	for form, got := range map[string]string{"Markdown": md.String(), "page": html.UnescapeString(page.String())} {
		if want := "Tested, and corrected together with 0.035 as the limit of p: 3 comparisons of requests per second. "; !strings.Contains(got, want) {
			t.Errorf("%q is not in the comparison's %s:\n%s", want, form, got)
		}
	}
	for _, want := range []string{"+50.0% better", "64", "Requests per second"} {
		for form, got := range map[string]string{"text": text.String(), "Markdown": md.String(),
			"page": html.UnescapeString(page.String())} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in the comparison's %s:\n%s", want, form, got)
			}
		}
	}
	if dots := strings.Count(page.String(), "<circle"); dots < len(a.Runs) {
		t.Errorf("the page has %d dots, want one for each run of what leads", dots)
	}
}
