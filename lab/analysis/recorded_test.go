package analysis_test

import (
	"bufio"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// The tests of the error rates of an analysis use recorded runs of a shared
// machine:
//
//	go test ./lab/analysis -run Record -record
//
// records them again. They are runs of weir backend --burn, each a process of
// its own: 200 equal ones in the closed loop, 200 equal ones with a pace, and
// in the closed loop 100 with costly responses and 100 whose responses cost 3% more
// than those.
var record = flag.Bool("record", false, "make the runs in testdata/recorded.csv anew, which takes minutes")

const recordedFile = "testdata/recorded.csv"

// The sets of recorded runs.
const (
	closedSet = "closed"
	openSet   = "open"
	costlySet = "costly"
	dearerSet = "costly, 3% dearer"
)

// A recordedRun has the values of a run that the analysis needs.
type recordedRun struct {
	set                                string
	burn                               time.Duration
	perSecond, cpuPerRequest, p50, p99 float64 // times in microseconds
}

func TestRecordWritesTestdata(t *testing.T) {
	if !*record {
		t.Skip("writes testdata, with -record")
	}
	weir := filepath.Join(t.TempDir(), "weir")
	if out, err := exec.Command("go", "build", "-o", weir,
		"github.com/weirhq/weir/cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const burn = 4 * time.Millisecond // much more than the other cost of a request, which is noise
	var costs []float64
	for range 15 {
		costs = append(costs, recordRun(t, weir, costlySet, burn).cpuPerRequest)
	}
	slices.Sort(costs)
	more := time.Duration(0.03 * costs[len(costs)/2] * 1e3)
	t.Logf("a costly request takes %.1f us; 3%% more are %v", costs[len(costs)/2], more)
	var runs []recordedRun
	for i := range 100 {
		for range 2 {
			runs = append(runs, recordRun(t, weir, closedSet, 20*time.Microsecond),
				recordRun(t, weir, openSet, 2*time.Millisecond))
		}
		if i%2 == 0 {
			runs = append(runs, recordRun(t, weir, costlySet, burn), recordRun(t, weir, dearerSet, burn+more))
		} else {
			runs = append(runs, recordRun(t, weir, dearerSet, burn+more), recordRun(t, weir, costlySet, burn))
		}
	}
	write(t, runs)
}

// recordRun starts a backend, loads it briefly and ends it.
func recordRun(t *testing.T, weir, set string, burn time.Duration) recordedRun {
	t.Helper()
	service := exec.CommandContext(t.Context(), weir, "backend", "--listen", "127.0.0.1:0", "--burn", burn.String())
	stderr, err := service.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		service.Process.Kill()
		service.Wait()
	}()
	greeting, err := bufio.NewReader(stderr).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(greeting), "weir: backend on ")
	if !ok {
		t.Fatalf("the backend says %q, %v", greeting, err)
	}
	plan := load.Plan{Targets: []target.Target{{URL: url}}, Connections: 4, Duration: 100 * time.Millisecond,
		Process: service.Process.Pid}
	if _, err := load.Run(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	plan.Duration = 400 * time.Millisecond
	if set == openSet {
		plan.Pace, plan.Connections = pace.Rate(200), 2
	}
	r, err := load.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if r.Server == nil || r.Requests == 0 {
		t.Fatalf("nothing was measured: %+v", r)
	}
	l := r.Latency
	if r.LatencyFromDue != nil {
		l = r.LatencyFromDue
	}
	return recordedRun{set, burn, r.RequestsPerSecond, r.Server.CPUSeconds * 1e6 / float64(r.Requests), float64(l.P50),
		float64(l.P99)}
}

func write(t *testing.T, runs []recordedRun) {
	t.Helper()
	f, err := os.Create(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	w.Write([]string{"set", "burn", "requests_per_second", "cpu_per_request_us", "p50_us", "p99_us"})
	for _, r := range runs {
		w.Write([]string{r.set, r.burn.String(), fmt.Sprintf("%.3f", r.perSecond), fmt.Sprintf("%.4f", r.cpuPerRequest),
			fmt.Sprintf("%.3f", r.p50), fmt.Sprintf("%.3f", r.p99)})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
}

// recorded returns the runs by their set, in the order in which they were made.
func recorded(t *testing.T) map[string][]recordedRun {
	t.Helper()
	f, err := os.Open(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string][]recordedRun{}
	for _, row := range rows[1:] {
		r := recordedRun{set: row[0]}
		for i, field := range []*float64{&r.perSecond, &r.cpuPerRequest, &r.p50, &r.p99} {
			if *field, err = strconv.ParseFloat(row[i+2], 64); err != nil {
				t.Fatal(err)
			}
		}
		sets[r.set] = append(sets[r.set], r)
	}
	return sets
}
