package experiment

import (
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/settings"
)

// A target receives the settings of an experiment: the experiment itself, or
// the service and the load of one of its configurations.
type target struct {
	experiment *Experiment
	service    *Service
	load       *settings.Settings

	adding *Addition // set below include only

	// positions has the positions of names such as
	// "matrix.service.output[0]" in a file, for later checks. It may be
	// nil.
	positions map[string]yamlfile.Pos
}

// setPosition notes the position of a name.
func (t target) setPosition(what string, at yamlfile.Pos) {
	if t.positions != nil {
		t.positions[what] = at
	}
}

// where returns the position of a name, or that of the nearest enclosing part
// that the file has.
func (t target) where(name string) yamlfile.Pos {
	for name != "" {
		if at, ok := t.positions[name]; ok {
			return at
		}
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	return yamlfile.Pos{Line: 1, Col: 1}
}

type (
	reader   = yamlfile.Reader[target]
	place    = yamlfile.Place[target]
	readFunc = yamlfile.ReadFunc[target]
)
