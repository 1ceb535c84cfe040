package experiment

import (
	"path/filepath"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Parse reads an experiment from YAML. The name of the file is used in
// messages, and its folder becomes the experiment's. Nothing is opened or run.
//
// The error has a line for each mistake in the file, in file order, with line and
// column: "gc.yaml:3:9: ...". The values of the matrix are checked like the settings
// that they are for, and so are all configurations, including the configurations of the
// experiment that Shorten makes. A file that is not YAML is read only up to its first
// error.
//
// A file may omit the service's command, which [Experiment.Set] can add.
// lab.Run needs it.
func Parse(file string, text []byte) (*Experiment, error) {
	f, root := yamlfile.Read(file, "an experiment", text)
	e := &Experiment{Folder: filepath.Dir(file)}
	t := target{experiment: e, service: &e.Service, load: &e.Load, positions: map[string]yamlfile.Pos{}}
	if root == nil && f.Err() == nil {
		f.Mistakef(yamlfile.Pos{Line: 1, Col: 1}, "weir lab show gc prints one", "the file is empty")
	}
	if root != nil {
		for _, pair := range root.Pairs {
			t.setPosition(pair.Key.Text, pair.Key.Pos)
		}
		r := newReader(f)
		r.Fields(place{To: t}, root)
		if f.Err() == nil {
			t.check(f)
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return e, nil
}
