package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Set changes a setting, as in a file:
//
//	err := e.Set("load.duration", "5s")
//	err = e.Set("matrix.service.output", "[null, file]")
//	err = e.Set("service.command", "python3 -m http.server ${port}")
//
// A setting of the matrix replaces the dimension of that name, or adds one.
// service.env adds to the existing variables. Set does not check whether all
// settings fit together: [Experiment.Configurations] does. After an error the
// experiment is unchanged.
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
	r := newReader(f)
	if refused := settable(r, path, true); refused != nil {
		return fmt.Errorf("%s; %s", refused.What, refused.Hint)
	}
	changed := *e
	readSetting(r, target{experiment: &changed, service: &changed.Service, load: &changed.Load}, path,
		yamlfile.Pos{Line: 1, Col: 1}, n)
	if wrong := f.Mistakes(); len(wrong) > 0 {
		if wrong[0].Hint == "" {
			return errors.New(wrong[0].What)
		}
		return fmt.Errorf("%s; %s", wrong[0].What, wrong[0].Hint)
	}
	*e = changed
	return nil
}

// A short experiment without Quick has at most these.
const (
	shortRepeats  = 6
	shortWarmUp   = 500 * time.Millisecond
	shortDuration = 2 * time.Second
)

// Shorten makes the experiment a short one, for a first look. It takes the
// settings of Quick, or else six repeats of two seconds. With fewer repeats, a
// difference could hardly be distinguished from chance. After an error the
// experiment is unchanged.
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

// dropStale removes exclusions that the matrix no longer contains.
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
