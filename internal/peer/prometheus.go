package peer

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// Prometheus returns the path of a program of Debian's package prometheus: prometheus or promtool.
func Prometheus(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v: apt-get install prometheus", err)
	}
	return path
}

// PrometheusServer is a running server of Prometheus.
type PrometheusServer struct {
	URL string

	t testing.TB
}

// StartPrometheus starts a server with a configuration. The end of the test ends it.
func StartPrometheus(t testing.TB, config string) *PrometheusServer {
	t.Helper()
	folder, address := t.TempDir(), FreeAddress(t)
	file := filepath.Join(folder, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, nil, Prometheus(t, "prometheus"), "--config.file", file, "--storage.tsdb.path", filepath.Join(folder, "data"),
		"--web.listen-address", address, "--web.enable-remote-write-receiver", "--log.level", "warn")
	p := &PrometheusServer{"http://" + address, t}
	testkit.AwaitNil(t, "the start of Prometheus", func() error {
		resp, err := http.Get(p.URL + "/-/ready")
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
	return p
}

// A PrometheusSample is a series in the result of an expression. A value is the time in seconds, and a number as a string.
type PrometheusSample struct {
	Metric map[string]string
	Value  [2]any   // the last one, of a vector
	Values [][2]any // of a range vector
}

// Query evaluates an expression whose result is a vector or a range vector.
func (p *PrometheusServer) Query(expression string) []PrometheusSample {
	p.t.Helper()
	resp, err := http.Get(p.URL + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var reply struct {
		Error string
		Data  struct{ Result []PrometheusSample }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil || reply.Error != "" {
		p.t.Fatalf("%s: %v %s", expression, err, reply.Error)
	}
	return reply.Data.Result
}
