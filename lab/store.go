package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/weirhq/weir/lab/results"
)

// A store is the folder of an experiment's results:
//
//	results.json   all but samples and points; without runs until the end
//	runs/001.json  each run with everything, as it ends
//	profiles/      profiles, and the runs in which they were taken
//	build/         results of the experiment's build, until all runs are made
//	tmp/           folders of current runs
//	lock           locked by the process that writes
//
// Every document is written to a temporary file and renamed, so none is ever
// incomplete.
type store struct {
	dir  string // absolute
	lock *os.File
}

const (
	resultsFile = "results.json"
	runsDir     = "runs"
	profilesDir = "profiles"
	buildDir    = "build"
	tmpDir      = "tmp"
	lockFile    = "lock"
	builtFile   = ".built" // in buildDir after a complete build
)

// openStore makes a folder, or opens one with results if resume is set and
// returns them. Otherwise old is nil.
func openStore(dir string, resume bool) (s *store, old *results.Results, err error) {
	if dir == "" {
		return nil, nil, errors.New("the lab needs a folder for its results: Options.Dir is empty")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, runsDir), 0o777); err != nil {
		return nil, nil, fmt.Errorf("make the folder of the results: %w", err)
	}
	s = &store{dir: dir}
	if err := s.take(); err != nil {
		return nil, nil, err
	}
	if old, err = s.old(resume); err != nil {
		s.close()
		return nil, nil, err
	}
	return s, old, nil
}

// take locks the folder until close.
func (s *store) take() error {
	lock, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%s is in use: another lab writes its results there", s.dir)
		}
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if mine, err := lock.Stat(); err == nil {
		// its owner has removed it in the meantime
		if there, err := os.Stat(lock.Name()); err != nil || !os.SameFile(mine, there) {
			lock.Close()
			return s.take()
		}
	}
	s.lock = lock
	return nil
}

func (s *store) close() {
	os.Remove(s.lock.Name())
	s.lock.Close()
}

// old returns the results in the folder.
func (s *store) old(resume bool) (*results.Results, error) {
	if resume {
		s.dropBroken()
	}
	old, err := Read(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case !resume:
		return nil, fmt.Errorf("%s has results already: go on with them by --resume, or name another folder", s.dir)
	}
	return old, err
}

// dropBroken removes runs that cannot be read. They are made again.
func (s *store) dropBroken() {
	for _, dir := range []string{runsDir, profilesDir} {
		names, _ := filepath.Glob(s.path(dir, "*.json*")) // the pattern is valid
		for _, name := range names {
			if _, err := readDocument[results.Run](name); err != nil || strings.HasSuffix(name, ".part") {
				os.Remove(name)
			}
		}
	}
}

func (s *store) path(elements ...string) string {
	return filepath.Join(append([]string{s.dir}, elements...)...)
}

// keepRun writes a run.
func (s *store) keepRun(r *results.Run) error {
	return s.keep(r, runsDir, fmt.Sprintf("%03d.json", r.Number))
}

// keepProfiled writes a run with profiles beside them.
func (s *store) keepProfiled(r *results.Run, stem string) error {
	if err := os.MkdirAll(s.path(profilesDir), 0o777); err != nil {
		return err
	}
	return s.keep(r, profilesDir, stem+".json")
}

// profileStem returns the name of a configuration's profiles, without
// characters that are special to file systems or shells. The number makes it
// unique.
func profileStem(number int, configuration string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '=', r == '_', r == '-':
			return r
		}
		return '-'
	}, configuration)
	return fmt.Sprintf("%02d-%.80s", number, safe)
}

// keepResults writes the results without the large parts, which are in the
// files of the runs.
func (s *store) keepResults(r *results.Results) error {
	return s.keep(r.Light(), resultsFile)
}

// keep writes a whole document or nothing, even if the machine stops.
func (s *store) keep(document any, elements ...string) error {
	name := s.path(elements...)
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	beside := name + ".part"
	file, err := os.Create(beside)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(beside, name)
	}
	if err != nil {
		os.Remove(beside)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Read reads the results in a folder, with the samples of all runs. The results of an
// interrupted experiment have the runs so far. The error wraps [fs.ErrNotExist] if
// there are none.
func Read(dir string) (*results.Results, error) {
	r, err := readDocument[results.Results](filepath.Join(dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no results of weir lab: name the folder that `weir lab run` has written to "+
			"(its --out): %w", dir, err)
	}
	if err != nil {
		return nil, err
	}
	made := len(r.Runs)
	if r.Runs, err = readRuns(filepath.Join(dir, runsDir), r.Runs); err != nil {
		return nil, err
	}
	r.Interrupted = r.Interrupted || len(r.Runs) < made // files were removed
	slices.SortFunc(r.Runs, func(a, b results.Run) int { return a.Number - b.Number })
	if r.Profiled, err = readRuns(filepath.Join(dir, profilesDir), r.Profiled); err != nil {
		return nil, err
	}
	return r, nil
}

// readRuns reads the runs of a folder, or returns known if it has none.
func readRuns(dir string, known []results.Run) (runs []results.Run, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		r, err := readDocument[results.Run](filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		runs = append(runs, *r)
	}
	if runs == nil {
		return known, nil
	}
	return runs, nil
}

func readDocument[T any](name string) (*T, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	document := new(T)
	if err := json.Unmarshal(text, document); err != nil {
		return nil, fmt.Errorf("%s was not written by weir lab: %w; remove it, and the lab makes it again with "+
			"--resume", name, err)
	}
	return document, nil
}
