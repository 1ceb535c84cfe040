package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/peer"
)

const prometheusFolder = deployFolder + "/prometheus"

// promtool runs a command of Prometheus that checks files.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(peer.Prometheus(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

// TestAlertsFireOnlyInTheirCases checks the rules of deploy/prometheus and runs their cases. Each alert has cases in
// which it fires and in which it does not.
func TestAlertsFireOnlyInTheirCases(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", filepath.Join(prometheusFolder, "weir-rules.yaml"))
	promtool(t, "test", "rules", filepath.Join(prometheusFolder, "weir-rules-test.yaml"))
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, group := range manifests(t, "prometheus/weir-rules-test.yaml")[0].at(t, "tests").([]any) {
		for _, entry := range manifest(group.(map[string]any)).at(t, "alert_rule_test").([]any) {
			entry := manifest(entry.(map[string]any))
			where := silent
			if entry["exp_alerts"] != nil {
				where = fires
			}
			where[entry.at(t, "alertname").(string)] = true
		}
	}
	for _, alert := range alertNames(t) {
		if !fires[alert] || !silent[alert] {
			t.Errorf("%s: fires in a case: %t; does not fire in a case: %t", alert, fires[alert], silent[alert])
		}
	}
}

// alertNames returns the names of the alerts in deploy/prometheus.
func alertNames(t *testing.T) (names []string) {
	t.Helper()
	for _, group := range manifests(t, "prometheus/weir-rules.yaml")[0].at(t, "groups").([]any) {
		for _, rule := range manifest(group.(map[string]any)).at(t, "rules").([]any) {
			if name, ok := rule.(map[string]any)["alert"].(string); ok {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("no alerts")
	}
	return names
}

// A dashboard is what the tests read of a dashboard of Grafana.
type dashboard struct {
	Panels      []dashboardPanel
	Annotations struct{ List []dashboardTarget }
}

type dashboardPanel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ UID string }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []dashboardTarget
}

type dashboardTarget struct{ Expr string }

const dashboardFile = deployFolder + "/grafana/weir.json"

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries returns the expressions of the panels, by their titles, and of the annotations, with values of the variables.
// Their windows are an hour, because a test that played the faults may be slow.
func (d *dashboard) queries() map[string]string {
	values := strings.NewReplacer("$job", ".*", "$instance", ".*", "$route", ".*", "[$__rate_interval]", "[1h]", "[2m]", "[1h]")
	queries := map[string]string{}
	for _, p := range d.Panels {
		for i, target := range p.Targets {
			queries[fmt.Sprintf("%s %d", p.Title, i)] = values.Replace(target.Expr)
		}
	}
	for i, a := range d.Annotations.List {
		queries[fmt.Sprintf("annotation %d", i)] = values.Replace(a.Expr)
	}
	return queries
}

// TestDashboardIsValid checks the panels of the dashboard. promtool parses their expressions.
func TestDashboardIsValid(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x > 23 {
					t.Fatalf("%s is over %q, or outside", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		row := p.Type == "row"
		if ids[p.ID] || p.Title == "" || !row && (p.Description == "" || p.FieldConfig.Defaults.Unit == "" ||
			p.Datasource.UID != "${datasource}" || len(p.Targets) == 0) {
			t.Errorf("%s: the id is not unique, or something is missing: %+v", p.Title, p)
		}
		ids[p.ID] = true
	}
	rules := []string{}
	for _, query := range d.queries() {
		quoted, err := json.Marshal(query) // JSON is YAML
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, fmt.Sprintf("{record: panel:%d, expr: %s}", len(rules), quoted))
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	text := fmt.Sprintf("groups: [{name: panels, rules: [%s]}]\n", strings.Join(rules, ", "))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)
}

// TestRulesUseDocumentedMetrics checks that docs/metrics.md has the metrics in the rules and in the dashboard.
// TestDocsListEachMetric compares that page with a front door.
func TestRulesUseDocumentedMetrics(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?:^|[^:\w])(weir_\w+)`)
	for _, file := range []string{prometheusFolder + "/weir-rules.yaml", prometheusFolder + "/weir-rules-test.yaml", dashboardFile} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := name.FindAllSubmatch(text, -1)
		for _, match := range names {
			metric := regexp.MustCompile("_seconds_(bucket|count|sum)$").ReplaceAll(match[1], []byte("_seconds"))
			if !bytes.Contains(page, []byte("**`"+string(metric)+"`** (")) {
				t.Errorf("%s has %s, which is not in docs/metrics.md", file, metric)
			}
		}
		if len(names) < 40 {
			t.Errorf("%s has %d metrics", file, len(names))
		}
	}
}
