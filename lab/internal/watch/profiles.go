package watch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/weirhq/weir/lab/results"
)

// The kinds of profile.
const (
	profileCPU   = "cpu"
	profileAlloc = "alloc_space"
)

// Profiling takes profiles of a Go service while it is loaded.
type Profiling struct {
	root   string
	client *http.Client
	before *profile.Profile // allocations before the load
	cpu    chan profiled    // receives one value if a CPU profile is taken
	over   chan struct{}    // closed when the load has ended
}

type profiled struct {
	*profile.Profile
	err error
}

// StartProfiles begins to take profiles of the kinds "cpu" and "alloc_space" of
// the Go service at goURL. The load begins when it returns and takes the given
// time, or 0 if that is not known. After a call without an error, Save must be
// called.
func StartProfiles(ctx context.Context, goURL string, kinds []string, load time.Duration) (*Profiling, error) {
	p := &Profiling{root: goRoot(goURL), client: &http.Client{Transport: trusting()}, over: make(chan struct{})}
	if slices.Contains(kinds, profileAlloc) {
		var err error
		if p.before, err = p.heap(ctx); err != nil {
			p.client.CloseIdleConnections()
			return nil, fmt.Errorf("take a profile of what is allocated: %w", err)
		}
	}
	if slices.Contains(kinds, profileCPU) {
		p.cpu = make(chan profiled, 1)
		go func() { p.cpu <- p.busy(ctx, load) }()
	}
	return p, nil
}

// busy takes a CPU profile for the time of the load, in whole seconds. If that
// is not known, it takes one profile per second, because a service cannot be
// told to end a profile early.
func (p *Profiling) busy(ctx context.Context, load time.Duration) profiled {
	if load > 0 {
		return p.seconds(ctx, max(1, int(load.Seconds())))
	}
	var all []*profile.Profile
	for {
		next := p.seconds(ctx, 1)
		if next.err != nil {
			return next
		}
		all = append(all, next.Profile)
		select {
		case <-p.over:
			merged, err := profile.Merge(all)
			return profiled{merged, err}
		default:
		}
	}
}

func (p *Profiling) seconds(ctx context.Context, n int) profiled {
	taken, err := p.get(ctx, time.Duration(n)*time.Second, fmt.Sprintf("/debug/pprof/profile?seconds=%d", n))
	return profiled{taken, err}
}

// Save must be called when the load has ended. It waits for the profiles and
// writes them below dir, to profiles/STEM.KIND.pb.gz. If there is an error, the
// profiles that it returns have been written.
func (p *Profiling) Save(ctx context.Context, dir, stem string) (all []results.Profile, err error) {
	defer p.client.CloseIdleConnections()
	close(p.over)
	if p.before != nil {
		// The CPU profile may end later, so the heap is taken first.
		after, err := p.heap(ctx)
		if err == nil {
			after, err = allocatedBetween(p.before, after)
		}
		if all, err = p.keep(all, profiled{after, err}, profileAlloc, dir, stem); err != nil {
			p.drain()
			return all, err
		}
	}
	if p.cpu != nil {
		return p.keep(all, <-p.cpu, profileCPU, dir, stem)
	}
	return all, nil
}

// drain waits for the CPU profile and discards it.
func (p *Profiling) drain() {
	if p.cpu != nil {
		<-p.cpu
	}
}

func (p *Profiling) keep(all []results.Profile, taken profiled, kind, dir, stem string) ([]results.Profile, error) {
	if taken.err != nil {
		return all, fmt.Errorf("take a profile of kind %s: %w", kind, taken.err)
	}
	file := filepath.Join("profiles", stem+"."+kind+".pb.gz")
	if err := writeProfile(filepath.Join(dir, file), taken.Profile); err != nil {
		return all, err
	}
	return append(all, results.Profile{Kind: kind, File: filepath.ToSlash(file)}), nil
}

// heap returns the profile of the heap after a garbage collection. Without a
// collection the profile would be as old as the last one.
func (p *Profiling) heap(ctx context.Context) (*profile.Profile, error) {
	return p.get(ctx, 0, "/debug/pprof/heap?gc=1")
}

// get requests a profile that the service needs the given time for.
func (p *Profiling) get(ctx context.Context, takes time.Duration, path string) (*profile.Profile, error) {
	const answer = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, takes+answer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", p.root+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("GET %s: %s: %s", req.URL, resp.Status, strings.TrimSpace(string(why)))
	}
	taken, err := profile.Parse(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", req.URL, err)
	}
	return taken, nil
}

// allocatedBetween returns the allocations between two profiles of the heap. It
// changes both.
func allocatedBetween(before, after *profile.Profile) (*profile.Profile, error) {
	for _, p := range []*profile.Profile{before, after} {
		if err := onlyAllocated(p); err != nil {
			return nil, err
		}
	}
	ended := after.TimeNanos
	took := ended - before.TimeNanos
	before.Scale(-1)
	between, err := profile.Merge([]*profile.Profile{before, after})
	if err != nil {
		return nil, fmt.Errorf("subtract a profile of the heap: %w", err)
	}
	between.TimeNanos, between.DurationNanos = ended, took
	between.DefaultSampleType = profileAlloc
	return between, nil
}

// onlyAllocated removes the values of memory in use, whose difference has no
// meaning.
func onlyAllocated(p *profile.Profile) error {
	var keep []int
	var types []*profile.ValueType
	for i, t := range p.SampleType {
		if strings.HasPrefix(t.Type, "alloc_") {
			keep, types = append(keep, i), append(types, t)
		}
	}
	if len(keep) == 0 {
		return fmt.Errorf("a profile of the heap without what was allocated")
	}
	p.SampleType = types
	for _, s := range p.Sample {
		values := make([]int64, len(keep))
		for to, from := range keep {
			values[to] = s.Value[from]
		}
		s.Value = values
	}
	return nil
}

// writeProfile writes a whole profile or nothing, and creates its folder.
func writeProfile(name string, p *profile.Profile) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".profile-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	err = p.Write(file)
	if e := file.Chmod(0o666 &^ 0o022); err == nil {
		err = e
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(file.Name(), name)
}
