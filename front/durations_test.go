package front_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// families returns the metrics by name. It scrapes them like a Prometheus
// server that stores native histograms.
func (d *testDoor) families(t testing.TB) map[string]*dto.MetricFamily {
	t.Helper()
	r, err := http.NewRequest("GET", "http://"+d.AdminAddr().String()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	resp, err := httpClient(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	decoder := expfmt.NewDecoder(resp.Body, expfmt.ResponseFormat(resp.Header))
	families := make(map[string]*dto.MetricFamily)
	for {
		f := new(dto.MetricFamily)
		if err := decoder.Decode(f); err != nil {
			return families // io.EOF, or too few families, which fails the test
		}
		families[f.GetName()] = f
	}
}

// labelled returns the metric of a family with the given label values, in the
// order of the label names, or nil.
func labelled(f *dto.MetricFamily, values ...string) *dto.Metric {
	for _, m := range f.GetMetric() {
		var has []string
		for _, l := range m.GetLabel() {
			has = append(has, l.GetValue())
		}
		if slices.Equal(has, values) {
			return m
		}
	}
	return nil
}

// TestDurationsAreCountedByClass checks the histograms of the route, the class, and the server
// that responded.
func TestDurationsAreCountedByClass(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(404)
		case "/broken":
			w.WriteHeader(503)
		}
	})
	dead := "http://" + testkit.ClosedAddress(t)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "dead", Servers: []upstreams.Server{{URL: dead}}})
		c.Routes = append(c.Routes, config.DefaultRoute("/dead", "dead"))
	})
	client := httpClient(t)
	for _, path := range []string{"/", "/a", "/missing", "/broken", "/dead"} {
		get(t, client, d.url(path))
	}
	ask(t, d.addr, "GET /../ HTTP/1.1\r\nHost: a\r\n\r\n")

	testkit.AwaitEqual(t, "all counted", func() float64 { return d.families(t)["weir_requests_in_flight"].GetMetric()[0].GetGauge().GetValue() }, 0)
	families := d.families(t) // a scrape collects the families in any order
	requests := families["weir_request_duration_seconds"]
	total := 0.0
	for _, c := range []struct {
		class, route string
		count        uint64
	}{
		{"2xx", "/{path...}", 2},
		{"4xx", "/{path...}", 1},
		{"5xx", "/{path...}", 1},
		{"5xx", "/dead", 1},
		{"4xx", "unmatched", 1},
	} {
		h := labelled(requests, c.class, c.route).GetHistogram()
		checkHistogram(t, c.route+" "+c.class, h, c.count)
		if c.route == "/{path...}" {
			total += h.GetSampleSum()
		}
	}
	if n := len(requests.GetMetric()); n != 5 {
		t.Errorf("%d histograms of requests, want one for each class that a route has answered with: 5", n)
	}
	server := labelled(families["weir_upstream_duration_seconds"], back.URL, "site").GetHistogram()
	checkHistogram(t, back.URL, server, 4)
	if server.GetSampleSum() >= total {
		t.Errorf("the server took %v s of requests that took %v s", server.GetSampleSum(), total)
	}
	checkHistogram(t, dead, labelled(families["weir_upstream_duration_seconds"], dead, "dead").GetHistogram(), 0)
}

// checkHistogram checks that a histogram has classic and native buckets.
func checkHistogram(t *testing.T, name string, h *dto.Histogram, count uint64) {
	t.Helper()
	if h.GetSampleCount() != count || len(h.GetBucket()) != 16 {
		t.Errorf("%s: %d samples in %d classic buckets, want %d in 16", name, h.GetSampleCount(), len(h.GetBucket()), count)
	}
	if h.GetSchema() != 3 || count > 0 && len(h.GetPositiveSpan()) == 0 {
		t.Errorf("%s: native buckets %v of schema %d, want some of schema 3", name, h.GetPositiveSpan(), h.GetSchema())
	}
}

// TestMetricsFollowTheServers follows the servers of an upstream through a refused
// connection and a reload.
func TestMetricsFollowTheServers(t *testing.T) {
	t.Parallel()
	back, dead := upstream(t, hello), "http://"+testkit.ClosedAddress(t)
	both := func(c *config.Config) { c.Upstreams[0].Servers = []upstreams.Server{{URL: dead}, {URL: back.URL}} }
	d := openDoor(t, back.URL, both)
	up := func(server string) string { return `weir_upstream_up{server="` + server + `",upstream="site"}` }
	check := func(want map[string]float64) {
		t.Helper()
		for series, n := range d.metrics(t) {
			if w, ok := want[series]; strings.HasPrefix(series, "weir_upstream_up{") && (!ok || n != w) {
				t.Errorf("%s is %v, want %v (%v)", series, n, w, ok)
			}
			if strings.HasPrefix(series, "weir_upstream_duration_seconds_count{server=\""+dead) && len(want) == 1 {
				t.Errorf("%s of a server that a reload removed", series)
			}
		}
	}
	check(map[string]float64{up(dead): 1, up(back.URL): 1})
	get(t, httpClient(t), d.url("/"))
	check(map[string]float64{up(dead): 0, up(back.URL): 1})
	if _, err := d.Reload(doorConfig(back.URL)); err != nil {
		t.Fatal(err)
	}
	check(map[string]float64{up(back.URL): 1})
}
