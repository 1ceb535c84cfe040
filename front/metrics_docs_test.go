package front_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// documented is the description of a metric in docs/metrics.md.
type documented struct {
	Type   string
	Labels []string
}

// metricEntry matches an entry: name, type, unit, labels, text and query.
var metricEntry = regexp.MustCompile("(?s)- \\*\\*`(\\w+)`\\*\\* " + `\((\w+), ([^;)]+)(?:;\s+labels\s+([^)]*))?\): ` +
	`(.*?)` + "\n\n((?:      [^\n]*\n)+)")

// documentedMetrics reads docs/metrics.md. Each entry must have a unit, and a
// query that uses the metric.
func documentedMetrics(t *testing.T) map[string]documented {
	t.Helper()
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := make(map[string]documented)
	for _, m := range metricEntry.FindAllStringSubmatch(string(page), -1) {
		name, kind, labels, query := m[1], m[2], m[4], m[6]
		if !strings.Contains(query, name) {
			t.Errorf("the query of %s does not use it:\n%s", name, query)
		}
		var names []string
		for _, l := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(labels, -1) {
			names = append(names, l[1])
		}
		slices.Sort(names)
		metrics[name] = documented{kind, names}
	}
	return metrics
}

// TestDocsListEachMetric compares docs/metrics.md with the metrics of a front door in
// which each metric has a value.
func TestDocsListEachMetric(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg := doorConfig(back.URL, func(c *config.Config) {
		withHealth()(c)
		c.DNS.Servers = []string{testkit.ClosedAddress(t)}
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "name", Servers: []upstreams.Server{{URL: "http://a.example:80"}}})
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{
			Name: "listed", Servers: []upstreams.Server{{URL: back.URL}}, List: upstreams.List{File: file + ".missing"},
		})
		c.Log.To = []string{logto.ToStdout, file}
		c.Upstreams = append(c.Upstreams,
			upstreams.Upstream{Name: "dead", Servers: []upstreams.Server{{URL: "http://" + testkit.ClosedAddress(t)}}, ConnectWait: time.Millisecond})
		closing := "http://" + rawUpstream(t, func(c *rawConn) { c.request() })
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{
			Name: "closing", Servers: []upstreams.Server{{URL: closing}}, Outliers: upstreams.DefaultOutliers(),
		})
		c.Upstreams[len(c.Upstreams)-1].Outliers.Consecutive = 1
		c.Routes = append(c.Routes, config.DefaultRoute("/dead", "dead"), config.DefaultRoute("/closing", "closing"))
		c.Routes = append(c.Routes,
			config.Route{Match: "/missing", Files: &files.Config{Root: filepath.Join(filepath.Dir(file), "missing")}})
		c.Routes[0].Mirror = &mirror.Config{To: "dead", Share: mirror.All, InFlight: 1}
		proxied(false)(c)
		c.TLS = tlsConfig(t, "site.example")
		c.TLS.HTTP3 = true
		c.Limits.Rate = config.Rate{Every: time.Millisecond, Burst: 100, Shared: "redis://" + testkit.ClosedAddress(t)}
		c.Access = &access.Config{Deny: parsePrefixes(t, "192.0.2.0/24")}
	})
	out, _, _ := logfiles.Open(t, cfg.Log.Config, nil)
	d := serveDoor(t, cfg, out)
	get(t, httpClient(t), d.url("/"))
	get(t, httpClient(t), d.url("/dead"))
	get(t, httpClient(t), d.url("/missing"))
	dial(t, d.addr).send("PROXY \r\n")
	secure := dial(t, d.Addrs()[1].String())
	if err := tls.Client(secure, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
		t.Fatal(err)
	}
	get(t, httpClient(t), d.url("/closing"))
	dial(t, d.addr).send(http2.ClientPreface + "not a frame")
	h3 := dialHTTP3(t, &tls.Config{InsecureSkipVerify: true}, d.Addrs()[1].String())
	h3.send(fields3(":method", "GET"))

	testkit.Await(t, "all counted", func() bool {
		families := d.families(t) // the first scrape creates the counters of refusals
		return families["weir_limit_refusals_total"] != nil && families["weir_proxy_protocol_refusals_total"] != nil &&
			families["weir_tls_connections_total"] != nil && families["weir_upstream_list_updates_total"] != nil &&
			families["weir_http2_errors_total"] != nil && families["weir_http3_errors_total"] != nil &&
			families["weir_upstream_checks_total"] != nil && families["weir_upstream_outliers_total"] != nil &&
			families["weir_requests_in_flight"].GetMetric()[0].GetGauge().GetValue() == 0
	})
	got := make(map[string]documented)
	for name, f := range d.families(t) { // a scrape collects the families in any order
		if !strings.HasPrefix(name, "weir_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		got[name] = documented{strings.ToLower(f.GetType().String()), labels}
	}
	want := documentedMetrics(t)
	if cfg.Engine == config.EngineGoroutines {
		delete(want, "weir_loop_cpu_seconds_total") // there is no loop
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("docs/metrics.md differs from /metrics (-scraped +documented):\n%s", diff)
	}
}
