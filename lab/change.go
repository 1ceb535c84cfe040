package lab

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Set changes a setting, as a file would have it:
//
//	err := e.Set("load.duration", "5s")
//	err = e.Set("matrix.service.output", "[null, file]")
//	err = e.Set("service.command", "python3 -m http.server ${port}")
//
// A setting of the matrix takes the place of the one that there was, or is one
// more; service.env adds to the variables that there are. Whether all settings
// go together is for [Experiment.Configurations] to say. An error leaves the
// experiment as it was.
func (e *Experiment) Set(path, value string) error {
	f, root := yamlfile.Read(path, "a value", []byte(value))
	switch wrong := f.Mistakes(); {
	case len(wrong) > 0:
		return fmt.Errorf("%s=%s: %s; %s", path, value, wrong[0].What, cmp.Or(wrong[0].Hint, "put quotes around it"))
	case root == nil:
		return fmt.Errorf("%s: there is no value; write %s=VALUE", path, path)
	}
	if err := e.set(f, path, root); err != nil {
		return fmt.Errorf("%s=%s: %w", path, value, err)
	}
	return nil
}

// set reads the value of a setting.
func (e *Experiment) set(f *yamlfile.File, path string, n *yamlfile.Node) error {
	if refused := settable(path, true); refused != nil {
		return fmt.Errorf("%s; %s", refused.What, refused.Hint)
	}
	changed := *e
	readSetting(newReader(f), target{experiment: &changed, service: &changed.Service, load: &changed.Load}, path, yamlfile.Pos{Line: 1, Col: 1}, n)
	if wrong := f.Mistakes(); len(wrong) > 0 {
		if wrong[0].Hint == "" {
			return errors.New(wrong[0].What)
		}
		return fmt.Errorf("%s; %s", wrong[0].What, wrong[0].Hint)
	}
	*e = changed
	return nil
}

// What an experiment without Quick has when it is short, unless it has less.
const (
	shortRepeats  = 6
	shortWarmUp   = 500 * time.Millisecond
	shortDuration = 2 * time.Second
)

// Shorten makes the experiment a short one, for a first look: it takes the
// settings of Quick, or has six repeats of two seconds where there are none: fewer
// could hardly tell a difference from chance.
// An error leaves the experiment as it was.
func (e *Experiment) Shorten() error {
	short := *e
	short.Quick = nil
	if len(e.Quick) == 0 {
		short.Repeats = min(cmp.Or(e.Repeats, shortRepeats), shortRepeats)
		short.WarmUp = min(e.WarmUp, shortWarmUp)
		short.Load.Duration = min(cmp.Or(e.Load.Duration, shortDuration), shortDuration)
	}
	for _, s := range e.Quick {
		f, _ := yamlfile.Read("quick", "a value", nil)
		if err := short.set(f, s.Path, yamlfile.Of(s.Value)); err != nil {
			return fmt.Errorf("quick: %s: %w", s.Path, err)
		}
	}
	short.dropStale()
	*e = short
	return nil
}

// dropStale removes what is excluded of a matrix that does not have it any more.
func (e *Experiment) dropStale() {
	e.Exclude = slices.DeleteFunc(slices.Clone(e.Exclude), func(labels map[string]string) bool {
		for path, label := range labels {
			if !e.hasLabel(path, label) {
				return true
			}
		}
		return false
	})
}

func (e *Experiment) hasLabel(path, label string) bool {
	for _, d := range e.Matrix {
		if d.Setting == path {
			return slices.ContainsFunc(d.Values, func(c Choice) bool { return c.Label == label })
		}
	}
	return false
}
