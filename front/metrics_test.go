package front_test

import (
	"strconv"
	"strings"
	"testing"
)

// metrics scrapes the door: values by series, as `name{label="value"}`.
func (d *testDoor) metrics(t testing.TB) map[string]float64 {
	t.Helper()
	_, page := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/metrics")
	series := make(map[string]float64)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if i := strings.LastIndexByte(line, '}'); i > 0 {
			name, value = line[:i+1], strings.TrimSpace(line[i+1:])
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		series[name] = n
	}
	return series
}

// metric returns the value of a series, 0 when it is not there.
func (d *testDoor) metric(t testing.TB, series string) float64 {
	t.Helper()
	return d.metrics(t)[series]
}
