package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/internal/service"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// resume adopts the runs of earlier results.
func (s *session) resume(old *results.Results) error {
	if err := agree(old, s.results); err != nil {
		return fmt.Errorf("go on in %s: %w", s.store.dir, err)
	}
	s.results.Started = old.Started
	for _, r := range old.Runs {
		i := r.Number - 1
		if i < 0 || i >= len(s.turns) || s.cases[s.turns[i].Case].Name != r.Configuration {
			return fmt.Errorf("go on in %s: run %d there is of %q, which does not run then: another version of weir "+
				"has ordered them", s.store.dir, r.Number, r.Configuration)
		}
		if s.since.IsZero() || r.Started.Before(s.since) {
			s.since = r.Started
		}
		s.add(r)
	}
	s.results.Profiled = old.Profiled
	killed, err := service.EndMarked(s.mark(""))
	if len(killed) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("a lab that was killed had left %s, which ran until now",
			strings.Join(killed, ", ")))
	}
	return err
}

// agree returns an error unless old results are of the same experiment, machine
// and version as the new ones.
func agree(old, now *results.Results) error {
	line, was, is := readable.FirstDifference(old.Source, now.Source)
	switch {
	case line > 0:
		return fmt.Errorf("the results there are of another experiment, first in line %d, %q there and %q now: name "+
			"another folder, or run it as it was, with the same flags", line, strings.TrimSpace(was),
			strings.TrimSpace(is))
	case old.Machine != now.Machine:
		return fmt.Errorf("the results there were measured on another machine (%s), whose numbers do not compare "+
			"with this one (%s): name another folder", describe(old.Machine), describe(now.Machine))
	case old.Version != now.Version:
		return fmt.Errorf("the results there were measured by weir %s, and this is weir %s, which may load and measure in "+
			"another way: name another folder, or go on with that one", old.Version, now.Version)
	}
	return nil
}

func describe(m load.Machine) string {
	return fmt.Sprintf("%s, %d CPUs, %s, %s, %s", m.Processor, m.CPUs, m.System, m.Kernel, m.Go)
}

// noteChanges adds a warning to the next run if files named in the service's
// command lines are newer than the first of the earlier runs: a program that
// was built again, or a script that was edited.
func (s *session) noteChanges() {
	if s.since.IsZero() {
		return
	}
	var changed []string
	for _, c := range s.cases {
		for _, name := range s.filesOf(c) {
			info, err := os.Stat(name)
			if err == nil && info.Mode().IsRegular() && info.ModTime().After(s.since) &&
				!slices.Contains(changed, name) {
				changed = append(changed, name)
			}
		}
	}
	if len(changed) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("changed since the first runs were made: %s; from this one on, the "+
			"runs may be of another service", strings.Join(changed, ", ")))
	}
}

// filesOf returns the program of a case and its arguments as file names. If the
// case cannot be expanded it returns nil, because the run will report that. A service that already runs has none.
func (s *session) filesOf(c experiment.Case) (names []string) {
	c, err := s.example(c)
	if err != nil || c.Service.Running() {
		return nil
	}
	if program, err := s.program(c); err == nil {
		names = append(names, program)
	}
	for _, word := range slices.Concat(c.Service.Command[1:], c.Service.Args) {
		names = append(names, s.inFolder(c, word))
	}
	return names
}
