package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/lab/internal/service"
)

// What zeros of an experiment stand for.
const (
	defaultRepeats     = 10
	defaultSample      = 50 * time.Millisecond
	defaultReadyWithin = 30 * time.Second
	defaultStopWithin  = 10 * time.Second
)

// maxFailures is how often in a row a configuration may fail at its start. The
// runs of it that are left then are not made: their Outcome is Failed, and
// their Error says so.
const maxFailures = 3

// A session is an experiment that is run.
type session struct {
	experiment *Experiment
	options    Options
	cases      []Case
	turns      []Turn
	store      *store
	reporter   *reporter
	results    *Results

	since    time.Time      // when the first run was made that there was already; zero when there was none
	failures map[string]int // in a row, at the start, by configuration
	notes    []string       // warnings for the next run
	took     []time.Duration
}

// add takes a run among the results.
func (s *session) add(r Run) {
	s.results.Runs = append(s.results.Runs, r)
	if failedAtStart(r) {
		s.failures[r.Configuration]++
	} else {
		s.failures[r.Configuration] = 0
	}
}

func failedAtStart(r Run) bool { return r.Load == nil && r.Outcome != Done && r.Outcome != Leaked }

func (s *session) complete() bool {
	return len(s.results.Runs) == len(s.turns) && (len(s.experiment.Profiles) == 0 || len(s.results.Profiled) == len(s.cases)-1)
}

// names are what ${...} stands for in all runs.
func (s *session) names() map[string]string {
	return map[string]string{"weir": s.options.Weir, "repo": s.options.Repo, "build": s.store.path(buildDir)}
}

// program is the file that an expanded case starts.
func (s *session) program(c Case) (string, error) {
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

// inFolder is a file that is named as in the service's folder.
func (s *session) inFolder(c Case, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.folder(c.Service.Dir), name)
}

// example is a case with its texts expanded, for what does not depend on the run.
func (s *session) example(c Case) (Case, error) {
	names := s.names()
	names["port"], names["dir"] = "0", s.store.path(tmpDir)
	return c.expanded(names)
}

// folder is where a service runs.
func (s *session) folder(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.experiment.Folder, dir)
}

// mark is the variable that tells the processes of a run from all others.
func (s *session) mark(run string) string { return "WEIR_LAB_RUN=" + s.store.dir + ":" + run }

// An attempt is a run that is being made.
type attempt struct {
	*session
	Case    // with nothing left to expand
	run     *Run
	dir     string         // of the run's own
	url     string         // where the service is; "" until that is known
	chosen  bool           // the lab has found url by looking where the service listens
	reached netip.AddrPort // where a connection to url ends; not valid until one was made
	stem    *string        // of its profiles, nil when there are none
	service *service.Service
	watcher *watcher

	warmed   int64 // answers, while warming up
	linesAt  int64 // how many lines there were before the warm-up
	before   service.Count
	after    service.Count
	quietEnd time.Time // when the last byte had come before the service was told to end
	ended    time.Time // when the load had
}

func (a *attempt) failed(as Outcome, err error) {
	if a.run.Outcome == Done {
		a.run.Outcome, a.run.Error = as, err.Error()
	}
}

func (a *attempt) warn(format string, args ...any) {
	a.run.Warnings = append(a.run.Warnings, fmt.Sprintf(format, args...))
}

// A Turn is a run that is to be made.
type Turn struct {
	Number int // from 1
	Repeat int // from 1
	Case   int // which of the cases, from 0
}

// Order returns all turns of an experiment. They come in blocks of one of each
// case; a block is shuffled, and the next one is its mirror, ABBA: of a machine
// that grows slower or faster steadily, both halves of such a pair have the same
// share.
func Order(cases, repeats int, seed uint64) []Turn {
	chance := rand.New(rand.NewPCG(seed, 0x6c6162))
	var turns []Turn
	var block []int
	for repeat := range repeats {
		if repeat%2 == 0 {
			block = chance.Perm(cases)
		} else {
			slices.Reverse(block)
		}
		for _, c := range block {
			turns = append(turns, Turn{Number: len(turns) + 1, Repeat: repeat + 1, Case: c})
		}
	}
	return turns
}
