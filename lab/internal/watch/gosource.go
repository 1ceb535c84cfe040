package watch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

const pollEvery = 500 * time.Millisecond

// A goSource is a page with statistics of the Go runtime.
type goSource struct {
	path  string
	every time.Duration // interval between requests
	read  func(io.Reader, *goState) error
}

// goSources are the known pages, the best ratio of information to cost first.
// For the last one, the service writes a whole profile as text, of which only
// the lines at its end are needed.
var goSources = [...]goSource{
	{"/debug/vars", pollEvery, readVars},
	{"/metrics", pollEvery, readMetrics},
	{"/debug/pprof/heap?debug=1", 4 * pollEvery, readHeap},
}

var errNoRuntime = errors.New("nothing about Go's runtime in it")

// readVars reads the page of package expvar.
func readVars(r io.Reader, s *goState) error {
	var vars struct {
		Memstats *struct {
			HeapInuse, TotalAlloc, Mallocs, NumGC int64
			PauseTotalNs                          int64
			PauseNs                               *[pausesTold]uint64
		} `json:"memstats"`
	}
	text, err := io.ReadAll(r) // a decoder that reads itself takes twice as long
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &vars); err != nil {
		return err
	}
	m := vars.Memstats
	if m == nil {
		return errNoRuntime
	}
	s.heap, s.allocated, s.allocations = m.HeapInuse, m.TotalAlloc, m.Mallocs
	s.gcs, s.pause, s.ring = max(0, m.NumGC), time.Duration(m.PauseTotalNs), m.PauseNs
	return nil
}

// readMetrics reads the page of Prometheus' collector for the Go runtime.
func readMetrics(r io.Reader, s *goState) error {
	text, err := goLines(r)
	if err != nil {
		return err
	}
	families := expfmt.NewDecoder(bytes.NewReader(text), expfmt.NewFormat(expfmt.TypeTextPlain))
	found := false
	for {
		var family dto.MetricFamily
		err := families.Decode(&family)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if metrics := family.GetMetric(); len(metrics) > 0 {
			found = s.metric(family.GetName(), metrics[0]) || found
		}
	}
	if !found {
		return errNoRuntime
	}
	return nil
}

// goLines returns the lines about go_ metrics. A service may have many others.
func goLines(r io.Reader) (text []byte, err error) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		bare := line
		for _, comment := range []string{"# HELP ", "# TYPE "} {
			bare = strings.TrimPrefix(bare, comment)
		}
		if strings.HasPrefix(bare, "go_") {
			text = append(text, line...)
		}
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// metric sets the field of a metric, and reports whether the metric is one that
// the state requires.
func (s *goState) metric(name string, m *dto.Metric) (known bool) {
	value := int64(m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue())
	switch name {
	case "go_memstats_heap_inuse_bytes":
		s.heap, known = value, true
	case "go_memstats_alloc_bytes_total":
		s.allocated = value
	case "go_memstats_mallocs_total":
		s.allocations = value
	case "go_goroutines":
		s.goroutines = int(value)
	case "go_gc_duration_seconds":
		summary := m.GetSummary()
		s.gcs = int64(summary.GetSampleCount())
		s.pause = seconds(summary.GetSampleSum())
		for _, q := range summary.GetQuantile() {
			if q.GetQuantile() == 1 {
				s.longest = seconds(q.GetValue())
			}
		}
	}
	return known
}

// seconds converts seconds to a Duration. It returns 0 for NaN, which the source
// reports as the longest pause if there was none.
func seconds(s float64) time.Duration {
	if !(s > 0 && s < 1e9) {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// readHeap reads the end of a heap profile's text, which is a comment:
// "# HeapInuse = 1234", "# PauseNs = [12 34 0 0]".
func readHeap(r io.Reader, s *goState) error {
	numbers := map[string]*int64{
		"HeapInuse": &s.heap, "TotalAlloc": &s.allocated, "Mallocs": &s.allocations, "NumGC": &s.gcs,
	}
	lines := bufio.NewReader(r)
	for left := len(numbers) + 1; left > 0; { // and PauseNs
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return errNoRuntime
		}
		if err != nil {
			return err
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), " = ")
		switch {
		case !ok:
			continue
		case name == "PauseNs":
			s.ring, err = readRing(value)
			left--
		case numbers[name] != nil:
			*numbers[name], err = strconv.ParseInt(value, 10, 64)
			delete(numbers, name)
			left--
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if s.gcs < 0 {
		return fmt.Errorf("NumGC: %d is no count", s.gcs)
	}
	s.noTotal = true
	return nil
}

// readRing reads "[12 34 0 0]".
func readRing(text string) (*[pausesTold]uint64, error) {
	words := strings.Fields(strings.Trim(text, "[]"))
	if len(words) != pausesTold {
		return nil, fmt.Errorf("%d pauses, want %d", len(words), pausesTold)
	}
	ring := new([pausesTold]uint64)
	for i, word := range words {
		var err error
		if ring[i], err = strconv.ParseUint(word, 10, 63); err != nil {
			return nil, err
		}
	}
	return ring, nil
}

// readIndex reads the number of goroutines from the index of all profiles. The
// index counts them; the goroutine profile would stop each of them.
func readIndex(r io.Reader) (goroutines int, err error) {
	page, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	before, _, ok := bytes.Cut(page, []byte("</td><td><a href='goroutine?debug=1'>"))
	if !ok {
		return 0, errors.New("no count of goroutines in it")
	}
	return strconv.Atoi(string(before[bytes.LastIndexByte(before, '>')+1:]))
}
