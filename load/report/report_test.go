package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load"
)

var update = flag.Bool("update", false, "write testdata anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; go test -update ./load/report writes it anew (-want +got):\n%s", file, diff)
	}
}

// longWord cannot be broken.
var longWord = strings.Repeat("x", 5000)

// hostile is text that a server or a command line might contain.
const hostile = "\x1b[2J\x1b]0;title\a</script><script>alert(1)</script><img src=http://example.com/x " +
	"onerror=alert(1)>\r\n\u202e\u0085\"'&amp;日本\xff--></svg>"

// hostileResult returns a result with it in every place.
func hostileResult(t testing.TB) *load.Result {
	r := stalledResult(t)
	r.URL, r.Protocol = "http://h/"+hostile, hostile
	r.UnsentFor = map[string]int64{hostile: 12}
	r.LateFor = map[string]int64{hostile: 12}
	r.Status[hostile], r.StatusCodes[hostile], r.StatusCodes["2"+hostile] = 5, 5, 5
	r.Errors = map[string]int64{hostile: 5, longWord: 3}
	r.ErrorExamples = map[string]string{hostile: hostile + longWord, longWord: longWord}
	r.LatencyByStatus = map[string]*load.Latency{hostile: r.Latency, "": r.Latency}
	r.Targets = []load.TargetResult{{Method: hostile, Path: hostile, Sent: 3, LatencyFromDue: r.Latency},
		{Method: "GET", Path: "/" + longWord, Sent: 5}}
	r.Server = &load.ServerProcess{PID: 1, Command: hostile,
		Samples: []load.ServerSample{{At: 1, CPU: 1}, {At: 2, CPU: 2}}}
	r.Warnings = []string{hostile, "", longWord}
	return r
}

// results returns results of all kinds. They are made once and must not be
// changed.
func results(t testing.TB) map[string]*load.Result {
	made.Do(func() { all = makeResults(t) })
	return all
}

var (
	made sync.Once
	all  map[string]*load.Result
)

func makeResults(t testing.TB) map[string]*load.Result {
	return map[string]*load.Result{
		"closed":  closedResult(t),
		"stalled": stalledResult(t),
		"refused": refusedResult(),
		"outage":  outageResult(t),
		"one":     oneResult(t),
		"huge":    hugeResult(t),
		"merged":  mergedResult(t),
		"hostile": hostileResult(t),
		"zero":    {},
	}
}

// written returns the output of write.
func written(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
