package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/internal/service"
	"github.com/weirhq/weir/lab/internal/watch"
	"github.com/weirhq/weir/lab/results"
)

// The defaults for zero values of an experiment.
const (
	defaultSample      = 50 * time.Millisecond
	defaultReadyWithin = 30 * time.Second
	defaultStopWithin  = 10 * time.Second
)

// maxFailures is the number of successive failures at the start after which the
// remaining runs of a configuration are not made. Their Outcome is Failed, and
// their Error says so.
const maxFailures = 3

// A session is the run of an experiment.
type session struct {
	experiment *experiment.Experiment
	options    Options
	cases      []experiment.Case
	turns      []Turn
	store      *store
	reporter   *reporter
	results    *results.Results

	together func(context.Context) // waits for the start of the other half's load; nil without a duet

	attached map[watch.Processes]*service.Running // services that already run, by their settings

	since    time.Time      // start of the first run of earlier results; zero without any
	failures map[string]int // successive, at the start, by configuration
	notes    []string       // warnings for the next run
	took     []time.Duration
}

// add adds a run to the results.
func (s *session) add(r results.Run) {
	s.results.Runs = append(s.results.Runs, r)
	if failedAtStart(r) {
		s.failures[r.Configuration]++
	} else {
		s.failures[r.Configuration] = 0
	}
}

func failedAtStart(r results.Run) bool {
	return r.Load == nil && r.Outcome != results.Done && r.Outcome != results.Leaked
}

func (s *session) complete() bool {
	return len(s.results.Runs) == len(s.turns) && (len(s.experiment.Profiles) == 0 ||
		len(s.results.Profiled) == len(s.cases)-1)
}

// names returns the values of ${...} that are the same in all runs.
func (s *session) names() map[string]string {
	return map[string]string{"weir": s.options.Weir, "repo": s.options.Repo, "build": s.store.path(buildDir)}
}

// program returns the file that an expanded case starts.
func (s *session) program(c experiment.Case) (string, error) {
	name := c.Service.Command[0]
	if strings.ContainsRune(name, filepath.Separator) {
		var err error
		if name, err = filepath.Abs(s.inFolder(c, name)); err != nil {
			return "", err
		}
	}
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	return found, err
}

// inFolder returns a file name that is relative to the service's folder.
func (s *session) inFolder(c experiment.Case, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.folder(c.Service.Dir), name)
}

// example returns a case with its texts expanded, for uses that do not depend
// on the run.
func (s *session) example(c experiment.Case) (experiment.Case, error) {
	names := s.names()
	names["port"], names["dir"] = "0", s.store.path(tmpDir)
	return c.Expand(names)
}

// folder returns the folder in which a service runs.
func (s *session) folder(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.experiment.Folder, dir)
}

// mark returns the environment variable that identifies the processes of a run.
func (s *session) mark(run string) string { return "WEIR_LAB_RUN=" + s.store.dir + ":" + run }

// An attempt is a run in progress.
type attempt struct {
	*session
	experiment.Case // expanded
	run             *results.Run
	dir             string         // the run's own folder
	url             string         // of the service; "" while it is not known
	chosen          bool           // url was derived from the port on which the service listens
	reached         netip.AddrPort // address of a connection to url; invalid before the first
	stem            *string        // name of its profiles, nil without any
	service         subject
	watcher         *watch.Watcher

	warmed   int64 // responses during the warm-up
	linesAt  int64 // number of lines before the warm-up
	before   service.Count
	after    service.Count
	quietEnd time.Time // time of the last byte before the service was told to end
	ended    time.Time // end of the load
}

func (a *attempt) failed(as results.Outcome, err error) {
	if a.run.Outcome == results.Done {
		a.run.Outcome, a.run.Error = as, err.Error()
	}
}

func (a *attempt) warn(format string, args ...any) {
	a.run.Warnings = append(a.run.Warnings, fmt.Sprintf(format, args...))
}

// mirror makes every second block the reverse of the one before it.
func mirror(turns []Turn, cases int) {
	for at := cases; at < len(turns); at += 2 * cases {
		for i := range min(cases, len(turns)-at) {
			turns[at+i].Case = turns[at-1-i].Case
		}
	}
}

// A Turn is a planned run.
type Turn struct {
	Number int // from 1
	Repeat int // from 1
	Case   int // index of the case
}

// Order returns all turns of an experiment. They come in blocks of one turn of
// each case. Each block is shuffled independently of the others, because the test
// of the analysis permutes the runs of a block.
func Order(cases, repeats int, seed uint64) []Turn {
	chance := rand.New(rand.NewPCG(seed, 0x6c6162))
	var turns []Turn
	for repeat := range repeats {
		for _, c := range chance.Perm(cases) {
			turns = append(turns, Turn{Number: len(turns) + 1, Repeat: repeat + 1, Case: c})
		}
	}
	return turns
}
