package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/internal/latencies"
)

// A sheet is a result in sentences and tables. Text and HTML draw the same
// sheet.
type sheet struct {
	page.Sheet
	Headline []string // sentences
	Tables   []page.Table
	Distrust string // the reason not to trust the result, or ""
}

// newTable returns a table without rows. Its first column has the title, its last one remarks.
func newTable(title string, columns ...string) page.Table {
	return page.Table{Columns: slices.Concat(page.Texts(title), page.Numbers(columns...), page.Texts(""))}
}

// newRow returns a row of such a table, in red if its count should be 0.
func newRow(name, remark string, bad bool, cells ...string) []page.Cell {
	class := ""
	if bad {
		class = "bad"
	}
	r := []page.Cell{{Text: name, Class: class}}
	for _, c := range cells {
		r = append(r, page.Cell{Text: c, Class: class})
	}
	return append(r, page.Cell{Text: remark, Class: "remark"})
}

func newSheet(r *load.Result) *sheet {
	s := &sheet{
		Sheet:    page.NewSheet("Load on "+readable.Clip(r.URL), facts(r), pageCSS, pageJS),
		Headline: headline(r),
		Distrust: distrust(r),
	}
	for _, w := range r.Warnings {
		s.Warnings = append(s.Warnings, readable.Clip(w))
	}
	for _, t := range []page.Table{
		latencyTable(r), targetTable(r), rateTable(r),
		accountTable(r), responseTable(r), errorTable(r),
		statusLatencies(r), phaseTable(r), pacingTable(r), processTable(r), generatorTable(r),
	} {
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	return s
}

// distrust returns the reason why a result is Saturated, or "".
func distrust(r *load.Result) string {
	switch {
	case !r.Saturated:
		return ""
	case r.MachineBusy():
		return "the machine was busy"
	}
	return "the generator was at its limit"
}

// headline describes the outcome in sentences. Failures come first.
func headline(r *load.Result) []string {
	if r.Requests == 0 {
		sentence := "Nothing was sent."
		if r.WarmUp != nil {
			sentence = "Nothing was sent after the warm-up."
		}
		if r.Sent > 0 {
			sentence = fmt.Sprintf("No response came to %s.", readable.Things(r.Sent, "request"))
		}
		if r.Wrong > 0 {
			sentence = fmt.Sprintf("None of %s was as expected.", readable.Things(r.Wrong, "response"))
		}
		if kinds := byCount(r.Errors); len(kinds) > 0 {
			sentence += fmt.Sprintf(" The most frequent error was %q, %s.", kinds[0],
				readable.Things(r.Errors[kinds[0]], "time"))
		}
		return []string{sentence}
	}
	sentences := []string{fmt.Sprintf("%s responses per second for %s.", readable.Number(r.RequestsPerSecond),
		readable.Lasting(r.DurationSeconds))}
	switch l, from := primary(r); {
	case l == nil || l.Count == 0:
	case l.GivenUp+l.NeverAnswered > 0:
		sentences = append(sentences, unansweredLatency(l, from))
	case l.Count == 1:
		sentences = []string{fmt.Sprintf("One response came after %s, counted from when its request was %s.", span(l.Max),
			from)}
	default:
		sentences = append(sentences, fmt.Sprintf("Half of them came within %s, 99%% within %s, the last after %s, "+
			"counted from when a request was %s.",
			span(l.P50), span(l.P99), span(l.Max), from))
	}
	if bad := failures(r); len(bad) > 0 {
		return slices.Concat(bad, sentences)
	}
	if r.Sent == 1 {
		return append(sentences, "The one request that was sent was answered, with 2xx.")
	}
	return append(sentences, fmt.Sprintf("All %s sent were answered, with 2xx.", readable.Things(r.Sent, "request")))
}

// unansweredLatency describes the latency of a run in which not all requests
// were answered.
func unansweredLatency(l *load.Latency, from string) string {
	sentence := fmt.Sprintf("Of all requests p50 is %s and p99 %s, counted from when a request was %s",
		boundWords(l, "p50", l.P50), boundWords(l, "p99", l.P99), from)
	if a := l.Answered; a != nil {
		sentence += fmt.Sprintf("; of those answered they are %s and %s", span(a.P50), span(a.P99))
	}
	return sentence + "."
}

func boundWords(l *load.Latency, key string, us load.Micros) string {
	switch {
	case us == load.NeverAnswered:
		return "infinite"
	case slices.Contains(l.AtLeast, key):
		return "at least " + span(us)
	}
	return span(us)
}

// failures describes the requests without a response, or without a 2xx response.
func failures(r *load.Result) []string {
	var bad []string
	add := func(n int64, what string) {
		if n > 0 {
			bad = append(bad, readable.Count(n)+" "+what)
		}
	}
	add(r.Failed, "failed"+kindsOf(r))
	add(r.Unanswered, "got no response")
	add(r.Requests-r.Status["2xx"], "got another status than 2xx")
	var sentences []string
	if len(bad) > 0 {
		sentences = append(sentences, fmt.Sprintf("Of %s sent %s.", readable.Things(r.Sent, "request"),
			readable.Enumerate(bad)))
	}
	if r.Unsent > 0 {
		sentences = append(sentences, fmt.Sprintf("%s asked for %s not sent.", readable.Things(r.Unsent, "request"),
			was(r.Unsent)))
	}
	return sentences
}

func was(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// kindsOf lists the kinds of errors in parentheses, the most frequent first.
func kindsOf(r *load.Result) string {
	var kinds []string
	for _, kind := range byCount(r.Errors) {
		kinds = append(kinds, readable.Clip(kind)+" "+readable.Count(r.Errors[kind]))
	}
	if len(kinds) == 0 {
		return ""
	}
	return " (" + strings.Join(kinds, ", ") + ")"
}

func facts(r *load.Result) []page.Fact {
	to := readable.Clip(r.URL)
	if r.Unix != "" {
		to += " over " + readable.Clip(r.Unix)
	}
	f := []page.Fact{{Name: "to", Text: to}}
	loop := "closed loop: a connection sends when it has its response"
	if p := r.Pacing; p != nil {
		loop = fmt.Sprintf("open loop: %s requests per second are due", readable.Number(p.AskedPerSecond))
	}
	if l := r.Log; l != nil {
		loop = fmt.Sprintf("open loop: requests are due as in %s", readable.Clip(l.File))
		if l.Speed != 1 {
			loop += fmt.Sprintf(", at %v times their speed", l.Speed)
		}
	}
	by := fmt.Sprintf("%s, %s", readable.Clip(r.Protocol), readable.Things(int64(r.Connections), "connection"))
	if r.ConnectionsMade > int64(r.Connections) {
		by += fmt.Sprintf(" at most at once, %s in all", readable.Count(r.ConnectionsMade))
	}
	if r.Pipeline > 1 {
		by += fmt.Sprintf(", %d requests under way on each", r.Pipeline)
	}
	f = append(f, page.Fact{Name: "by", Text: by}, page.Fact{Name: "pace", Text: loop})
	if len(r.Expect) > 0 {
		f = append(f, page.Fact{Name: "expect", Text: readable.Clip(strings.Join(r.Expect, "; "))})
	}
	took := fmt.Sprintf("%s from %s, by %s", readable.Lasting(r.DurationSeconds),
		r.Started.Format("2006-01-02 15:04:05 MST"), readable.Things(int64(r.Threads), "thread"))
	if r.Seed != 0 {
		took += fmt.Sprintf(", seed %d", r.Seed)
	}
	if w := r.WarmUp; w != nil {
		took += fmt.Sprintf("; after a warm-up of %s with %s, which %s left out", readable.Lasting(w.Seconds),
			readable.Things(w.Sent, "request"), was(w.Sent))
	}
	if r.Interrupted {
		took += "; interrupted before the plan's end"
	}
	f = append(f, page.Fact{Name: "for", Text: took})
	if m := r.Machine; m.System != "" {
		f = append(f, page.Fact{Name: "on", Text: strings.Join(slices.DeleteFunc([]string{
			readable.Things(int64(m.CPUs), "CPU"), m.Processor, m.System, m.Kernel, m.Go,
		}, func(s string) bool { return s == "" }), ", ")})
	}
	return f
}

// columns are the columns of a distribution, the same as in autocannon.
var columns = []string{"2.5%", "50%", "97.5%", "99%", "avg", "stdev", "max"}

// A column is a value of a latency. Its key is its name in JSON.
type column struct {
	key   string
	value load.Micros
}

func columnsOf(l *load.Latency) []column {
	return []column{{"p2_5", l.P2_5}, {"p50", l.P50}, {"p97_5", l.P97_5}, {"p99", l.P99}, {"mean", l.Mean},
		{"stdev", l.Stdev}, {"max", l.Max}}
}

func latencyRow(name string, l *load.Latency, s readable.Scale) []page.Cell {
	var cells []string
	for _, c := range columnsOf(l) {
		cells = append(cells, latencyCell(l, c, s))
	}
	return newRow(name, "", false, cells...)
}

func latencyCell(l *load.Latency, c column, s readable.Scale) string {
	switch {
	case c.value == load.NeverAnswered && c.key == "stdev":
		return "-"
	case c.value == load.NeverAnswered:
		return never
	}
	cell, before, behind := s.Cell(float64(c.value)), bounded(l, c.key, ""), ""
	if slices.Contains(l.TooFew, c.key) && before == "" {
		behind = "?"
	}
	if len(cell) == 7 && before+behind != "" {
		cell = strconv.FormatFloat(float64(c.value)/s.Size, 'g', 2, 64)
	}
	return before + cell + behind
}

// A namedLatency is the data of a row.
type namedLatency struct {
	name string
	*load.Latency
}

// scaleOf returns the unit for the times of all rows.
func scaleOf(rows []namedLatency) readable.Scale {
	median, most := math.Inf(1), 0.0
	for _, l := range rows {
		for _, us := range finite(l.P2_5, l.P50, l.P97_5, l.P99, l.Max) {
			most = max(most, us)
		}
		median = min(median, float64(l.P50))
	}
	return readable.TimeScale(median, most)
}

// tableOf returns a table of the latencies with samples, in one unit.
func tableOf(title string, rows []namedLatency) page.Table {
	rows = slices.DeleteFunc(rows, func(n namedLatency) bool { return n.Latency == nil || n.Count == 0 })
	if len(rows) == 0 {
		return page.Table{}
	}
	s := scaleOf(rows)
	t := newTable(title+", "+s.Name, columns...)
	for _, l := range rows {
		t.Rows = append(t.Rows, latencyRow(l.name, l.Latency, s))
	}
	t.Notes = notes(t.Rows)
	return t
}

func latencyTable(r *load.Result) page.Table {
	var rows []namedLatency
	for _, l := range []namedLatency{{"due", r.LatencyFromDue}, {"sent", r.Latency}} {
		if l.Latency == nil {
			continue
		}
		rows = append(rows, namedLatency{"from " + l.name, l.Latency})
		if l.Answered != nil {
			rows = append(rows, namedLatency{"answered, " + l.name, l.Answered})
		}
	}
	return tableOf("Latency", rows)
}

// targetTable has a row for each method and path pattern, if there are several.
func targetTable(r *load.Result) page.Table {
	if len(r.Targets) < 2 {
		return page.Table{}
	}
	var all []namedLatency
	for i := range r.Targets {
		if l := r.Targets[i].Waited(); l != nil {
			all = append(all, namedLatency{"", l})
		}
	}
	_, from := primary(r)
	s := scaleOf(all)
	title := "Targets, "
	if r.Targets[0].Step != "" {
		title = "Steps, "
	}
	t := newTable(title+s.Name, "share", "not 2xx", "50%", "99%", "max")
	for i := range r.Targets {
		t.Rows = append(t.Rows, targetRow(&r.Targets[i], r.Sent, s))
	}
	t.Notes = append([]string{"share is of all requests sent, not 2xx of the target's; latencies are from " + from +
		"."}, notes(t.Rows)...)
	return t
}

func targetRow(target *load.TargetResult, sent int64, s readable.Scale) []page.Cell {
	bad := target.Without2xx()
	cells := []string{readable.Share(target.Sent, sent), readable.Share(bad, target.Sent)}
	l := target.Waited()
	if l == nil {
		l = &load.Latency{P50: load.Micros(math.NaN()), P99: load.Micros(math.NaN()), Max: load.Micros(math.NaN())}
	}
	for _, c := range []column{{"p50", l.P50}, {"p99", l.P99}, {"max", l.Max}} {
		cells = append(cells, latencyCell(l, c, s))
	}
	return newRow(targetName(target), "", bad > 0, cells...)
}

// targetName returns the method and the path pattern, or the step of a flow.
func targetName(t *load.TargetResult) string {
	if t.Path == "" {
		if t.Targets == 0 {
			return "other targets"
		}
		return readable.Things(int64(t.Targets), "other target")
	}
	if t.Step != "" {
		return readable.Clip(t.Step)
	}
	return readable.Clip(t.Method + " " + t.Path)
}

func phaseTable(r *load.Result) page.Table {
	return tableOf("Phases", []namedLatency{{"connect", r.Connect}, {"TLS handshake", r.TLSHandshake},
		{"wait for a stream", r.StreamWait}, {"first byte", r.FirstByte}})
}

// statusLatencies returns a table if there are several classes of status codes.
func statusLatencies(r *load.Result) page.Table {
	if len(r.LatencyByStatus) < 2 {
		return page.Table{}
	}
	var rows []namedLatency
	for _, class := range slices.Sorted(maps.Keys(r.LatencyByStatus)) {
		rows = append(rows, namedLatency{readable.Clip(class), r.LatencyByStatus[class]})
	}
	return tableOf("By status", rows) // from sent
}

// wholeSecond is the least length of a second that counts as whole, because a
// run's clock may be slightly early or late.
const wholeSecond = 0.95

// rateTable describes the whole seconds of the series.
func rateTable(r *load.Result) page.Table {
	var responses, bytes []float64
	for _, s := range r.Series {
		if s.Seconds >= wholeSecond {
			responses, bytes = append(responses, responsesPerSecond(s)), append(bytes, perSecond(s.Bytes, s))
		}
	}
	if len(responses) == 0 {
		t := newTable("Per second")
		t.Rows = [][]page.Cell{
			newRow("responses", readable.Number(r.RequestsPerSecond)+" on average; there was no whole second for more "+
				"statistics", false),
			newRow("bytes read", readable.Size(r.BytesPerSecond)+" on average", false),
		}
		return t
	}
	t := newTable("Per second", columns...)
	t.Rows = [][]page.Cell{
		rateRow("responses", responses, readable.CountScale(slices.Max(responses))),
		rateRow("read", bytes, readable.ByteScale(slices.Max(bytes))),
	}
	return t
}

func rateRow(name string, values []float64, s readable.Scale) []page.Cell {
	if s.Name != "" {
		name += ", " + s.Name
	}
	slices.Sort(values)
	mean, stdev := moments(values)
	var cells []string
	for _, v := range []float64{quantile(values, 0.025), quantile(values, 0.5), quantile(values, 0.975),
		quantile(values, 0.99), mean, stdev, values[len(values)-1]} {
		cells = append(cells, s.Cell(v))
	}
	return newRow(name, "", false, cells...)
}

// quantile returns the smallest of the sorted values that at least that share
// of them does not exceed.
func quantile(sorted []float64, q float64) float64 {
	return sorted[latencies.Rank(100*q, int64(len(sorted)))-1]
}

// moments returns the mean and the standard deviation of a whole population.
func moments(values []float64) (mean, stdev float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v
	}
	mean /= n
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / n)
}

// reasons describes the keys of UnsentFor and LateFor.
var reasons = map[string]string{
	"skipped":       "beyond the backlog's bound",
	"no_connection": "as their connection failed",
	"ended":         "when the run ended before their turn",
	"connections":   "as no connection was free",
	"generator":     "as the generator did not keep up",
}

// because lists the reasons, the most frequent first.
func because(counts map[string]int64) string {
	var parts []string
	for _, key := range byCount(counts) {
		why, ok := reasons[key]
		if !ok {
			why = readable.Clip(key)
		}
		parts = append(parts, readable.Count(counts[key])+" "+why)
	}
	return strings.Join(parts, ", ")
}

// byCount returns the keys with a positive count, the largest first.
func byCount(counts map[string]int64) []string {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(counts)), func(k string) bool { return counts[k] == 0 })
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return keys
}

func accountTable(r *load.Result) page.Table {
	t := newTable("Requests", "number", "share")
	add := func(name string, n, all int64, of string, bad bool, remark string) {
		t.Rows = append(t.Rows, newRow(name, joinRemarks(of, remark), bad && n > 0, readable.Count(n),
			readable.Share(n, all)))
	}
	add("asked", r.Asked, r.Asked, "", false, "")
	add("sent", r.Sent, r.Asked, "of those asked", false, "")
	if r.Unsent > 0 {
		add("unsent", r.Unsent, r.Asked, "of those asked", true, because(r.UnsentFor))
	}
	add("answered", r.Requests, r.Sent, "of those sent", false, "")
	add("failed", r.Failed, r.Sent, "of those sent", true, "")
	add("unanswered", r.Unanswered, r.Sent, "of those sent", true, "")
	if r.Pacing != nil {
		why := because(r.LateFor)
		add("late", r.Late, r.Sent, "of those sent, by more than 1 ms", true, why)
	}
	return t
}

func joinRemarks(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

func responseTable(r *load.Result) page.Table {
	t := newTable("Responses", "number", "share")
	for _, class := range slices.Sorted(maps.Keys(r.Status)) {
		n := r.Status[class]
		t.Rows = append(t.Rows, newRow(readable.Clip(class), codes(r.StatusCodes, class), class >= "4",
			readable.Count(n), readable.Share(n, r.Requests)))
	}
	return t
}

// maxCodes is the number of codes of a class that are listed.
const maxCodes = 6

// codes lists the codes of a class, the most frequent first.
func codes(counts map[string]int64, class string) string {
	var parts []string
	rest, kinds := int64(0), int64(0)
	for _, code := range byCount(counts) {
		switch {
		case class == "" || !strings.HasPrefix(code, class[:1]):
		case len(parts) < maxCodes:
			parts = append(parts, readable.Clip(code)+": "+readable.Count(counts[code]))
		default:
			rest += counts[code]
			kinds++
		}
	}
	if kinds > 0 {
		parts = append(parts, fmt.Sprintf("%s: %s", readable.Things(kinds, "other code"), readable.Count(rest)))
	}
	return strings.Join(parts, ", ")
}

func errorTable(r *load.Result) page.Table {
	t := newTable("Errors", "number")
	for _, kind := range byCount(r.Errors) {
		remark := ""
		if e := r.ErrorExamples[kind]; e != "" {
			remark = "such as: " + readable.Clip(e)
		}
		t.Rows = append(t.Rows, newRow(readable.Clip(kind), remark, true, readable.Count(r.Errors[kind])))
	}
	return t
}

func pacingTable(r *load.Result) page.Table {
	p := r.Pacing
	if p == nil {
		return page.Table{}
	}
	t := newTable("Pacing")
	add := func(name, remark string) { t.Rows = append(t.Rows, newRow(name, remark, false)) }
	add("rate", fmt.Sprintf("%s asked and %s sent per second", rate(p.AskedPerSecond), rate(p.SentPerSecond)))
	if p.Lag != nil && p.Lag.Count > 0 {
		from := "from due to sent"
		if r.Log != nil {
			from = "behind the times of the log"
		}
		add("lag", fmt.Sprintf("%s half of the time, p99 %s, at most %s, %s", span(p.Lag.P50), span(p.Lag.P99),
			span(p.Lag.Max), from))
	}
	if l := r.Log; l != nil {
		add("log", fmt.Sprintf("%s of %s, in %s", readable.Lasting(l.RecordedSeconds), readable.Clip(l.File),
			readable.Things(l.Lines, "line")))
	}
	if p.Mean10ms > 0 {
		add("evenness", fmt.Sprintf("%s sent in 10 ms on average, with a variance of %s around the asked rate (0 is "+
			"perfect; random arrivals have %s)",
			readable.Number(p.Mean10ms), readable.Number(p.Variance10ms), readable.Number(p.Mean10ms)))
	}
	return t
}

// rate formats a rate to a tenth per second, which is exact enough to judge the
// pace.
func rate(perSecond float64) string {
	tenths := int64(math.Round(perSecond * 10))
	return fmt.Sprintf("%s.%d", readable.Count(tenths/10), tenths%10)
}

func processTable(r *load.Result) page.Table {
	t := newTable("Processes", "CPU s", "CPUs", "/response", "memory")
	if s := r.Server; s != nil {
		t.Rows = append(t.Rows, processRow("server", s.CPUSeconds, s.PeakRSS, r, serverRemark(s)))
	}
	g := r.Generator
	if g != (load.Generator{}) {
		t.Rows = append(t.Rows, processRow("generator", g.CPUSeconds, g.PeakRSS, r,
			fmt.Sprintf("its busiest thread ran %.1f%% of the time and waited %.1f%% for a CPU", 100*g.Busy,
				100*g.Waited)))
	}
	return t
}

// generatorTable has a row for each share of a merged result.
func generatorTable(r *load.Result) page.Table {
	t := newTable("Generators", "sent", "rate", "CPUs", "busiest")
	if len(r.Generators) > 0 {
		t.Notes = []string{"rate is of responses per second, busiest the CPU time of the busiest thread."}
	}
	for _, g := range r.Generators {
		name := g.Share.String()
		if g.Agent != "" {
			name += " " + readable.Clip(g.Agent)
		}
		cpus := "-"
		if g.DurationSeconds > 0 {
			cpus = readable.Number(g.Generator.CPUSeconds / g.DurationSeconds)
		}
		remark := fmt.Sprintf("%s, %s", readable.Things(int64(g.Connections), "connection"),
			readable.Things(int64(g.Machine.CPUs), "CPU"))
		if g.Lost != "" {
			remark = "lost after " + readable.Lasting(g.DurationSeconds)
		} else if g.MachineBusy() {
			remark += "; its machine was busy"
		} else if g.Saturated {
			remark += "; saturated"
		}
		t.Rows = append(t.Rows, newRow(name, remark, g.Lost != "" || g.Saturated, readable.Count(g.Sent),
			readable.Number(g.RequestsPerSecond), cpus, fmt.Sprintf("%.1f%%", 100*g.Generator.Busy)))
	}
	return t
}

func processRow(name string, cpuSeconds float64, peakRSS int64, r *load.Result, remark string) []page.Cell {
	cpus, each := "-", "-"
	if r.DurationSeconds > 0 {
		cpus = readable.Number(cpuSeconds / r.DurationSeconds)
	}
	if r.Requests > 0 {
		each = readable.Span(cpuSeconds * 1e6 / float64(r.Requests))
	}
	return newRow(name, remark, false, readable.Number(cpuSeconds), cpus, each, readable.Size(float64(peakRSS)))
}

func serverRemark(s *load.ServerProcess) string {
	remark := fmt.Sprintf("process %d, %s", s.PID, readable.Clip(s.Command))
	var files, threads int
	for _, sample := range s.Samples {
		files, threads = max(files, sample.Files), max(threads, sample.Threads)
	}
	if len(s.Samples) > 0 {
		remark += fmt.Sprintf("; at most %s and %s", readable.Things(int64(files), "open file"),
			readable.Things(int64(threads), "thread"))
	}
	return remark
}
