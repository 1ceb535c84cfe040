package watch

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/lab/results"
)

func profiledServer(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	s := testkit.Serve(t, mux)
	return s
}

//go:noinline
func allocateBefore(n int) {
	for range n {
		garbage = make([]byte, 1<<20)
	}
}

//go:noinline
func allocateDuring(n int) {
	for range n {
		garbage = make([]byte, 1<<20)
	}
}

//go:noinline
func spinUntil(ended *atomic.Bool) {
	for !ended.Load() {
		for range 1_000_000 { // the race detector's own time in Load belongs to no function
		}
	}
}

// TestProfilesContainOnlyTheLoad checks that profiles only contain the load, and no earlier
// allocations.
func TestProfilesContainOnlyTheLoad(t *testing.T) {
	s := profiledServer(t)
	dir := t.TempDir()
	allocateBefore(100)
	p, err := StartProfiles(t.Context(), s.URL+"/debug", []string{profileCPU, profileAlloc}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	allocateDuring(n)
	got, err := p.Save(t.Context(), dir, "03-gc")
	if err != nil {
		t.Fatal(err)
	}
	want := []results.Profile{
		{Kind: "alloc_space", File: "profiles/03-gc.alloc_space.pb.gz"},
		{Kind: "cpu", File: "profiles/03-gc.cpu.pb.gz"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("profiles (-want +got):\n%s", diff)
	}
	allocated := readProfile(t, filepath.Join(dir, got[0].File))
	if allocated.DefaultSampleType != profileAlloc || allocated.DurationNanos <= 0 {
		t.Errorf("%s prefers %q and lasted %d ns", got[0].File, allocated.DefaultSampleType, allocated.DurationNanos)
	}
	// only some allocations are sampled
	if bytes := taken(allocated, "allocateDuring", 1); bytes < n<<19 || bytes > n<<21 {
		t.Errorf("%d bytes were allocated while loaded, the profile says %d", n<<20, bytes)
	}
	if bytes := taken(allocated, "allocateBefore", 1); bytes != 0 {
		t.Errorf("%d bytes that were allocated before are in the profile", bytes)
	}
	if cpu := readProfile(t, filepath.Join(dir, got[1].File)); cpu.DurationNanos <= 0 {
		t.Errorf("the profile of the CPU lasted %d ns", cpu.DurationNanos)
	}
	files, err := os.ReadDir(filepath.Join(dir, "profiles"))
	if err != nil || len(files) != len(want) {
		t.Errorf("%d files in profiles, %v; want %d", len(files), err, len(want))
	}
}

// TestProfileOfTheCPUHasTheLoad profiles a function that uses all of the CPU that it gets, which may be none for a second on a
// busy machine.
func TestProfileOfTheCPUHasTheLoad(t *testing.T) {
	s := profiledServer(t)
	var ended atomic.Bool
	go spinUntil(&ended)
	defer ended.Store(true)
	testkit.Await(t, "a profile with the load", func() bool {
		p, err := StartProfiles(t.Context(), s.URL+"/debug", []string{profileCPU}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		got, err := p.Save(t.Context(), dir, "x")
		if err != nil || len(got) != 1 {
			t.Fatalf("Save = %v, %v", got, err)
		}
		return taken(readProfile(t, filepath.Join(dir, got[0].File)), "spinUntil", 1) > 0
	})
}

func readProfile(t *testing.T, name string) *profile.Profile {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := profile.Parse(file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// taken returns the sum of the values at an index of all stacks with a
// function.
func taken(p *profile.Profile, function string, index int) (sum int64) {
	for _, s := range p.Sample {
		for _, l := range s.Location {
			if strings.HasSuffix(l.Line[len(l.Line)-1].Function.Name, "."+function) {
				sum += s.Value[index]
				break
			}
		}
	}
	return sum
}

// TestProfilesCoverTheWholeLoad profiles a load of unknown length. Its second
// second is in the profile, too.
func TestProfilesCoverTheWholeLoad(t *testing.T) {
	s := profiledServer(t)
	p, err := StartProfiles(t.Context(), s.URL, []string{profileCPU}, 0)
	if err != nil {
		t.Fatal(err)
	}
	const load = 1200 * time.Millisecond
	for began := time.Now(); time.Since(began) < load; {
	}
	dir := t.TempDir()
	got, err := p.Save(t.Context(), dir, "x")
	if err != nil || len(got) != 1 {
		t.Fatalf("Save = %v, %v", got, err)
	}
	if cpu := readProfile(t, filepath.Join(dir, got[0].File)); cpu.DurationNanos < int64(load) {
		t.Errorf("the profile lasts %v, want at least the %v of the load", time.Duration(cpu.DurationNanos), load)
	}
}

func TestImpossibleProfilesAreErrors(t *testing.T) {
	none := httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	if _, err := StartProfiles(t.Context(), none.URL, []string{profileAlloc}, time.Second); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("the error is %v, want one with 404", err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.Write([]byte("<html>"))
	}))
	defer page.Close()
	dir := t.TempDir()
	p, err := StartProfiles(t.Context(), page.URL, []string{profileCPU}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Save(t.Context(), dir, "x"); err == nil || got != nil || !strings.Contains(err.Error(), page.URL) {
		t.Errorf("Save of a page that is no profile: %v, %v; want an error with %s", got, err, page.URL)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%v was left behind", files)
	}
}

// TestSaveFailsForDeadService checks that save does not wait for the CPU profile if
// the other one fails.
func TestSaveFailsForDeadService(t *testing.T) {
	var dead atomic.Bool // for a connection that the server accepts while the others are closed
	profiles := profiledServer(t).Config.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dead.Load() {
			panic(http.ErrAbortHandler)
		}
		profiles.ServeHTTP(w, r)
	}))
	defer s.Close()
	p, err := StartProfiles(t.Context(), s.URL, []string{profileCPU, profileAlloc}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	dead.Store(true)
	s.Listener.Close()
	s.CloseClientConnections()
	if got, err := p.Save(t.Context(), t.TempDir(), "x"); err == nil || len(got) > 0 {
		t.Errorf("Save of a service that has died: %v, %v; want an error", got, err)
	}
}
