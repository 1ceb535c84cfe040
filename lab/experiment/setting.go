package experiment

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A setting is a key of the file with its functions to read and to write it.
type setting struct {
	yamlfile.Key[target]

	// show returns the node for the setting, or nil if it has no value. It
	// is nil for keys that are written by their parent.
	show func(target) *yamlfile.Node
}

func key(path string, read readFunc, show func(target) *yamlfile.Node) setting {
	return setting{yamlfile.Key[target]{Path: path, Read: read}, show}
}

// one returns the setting of a single value. Its zero value is not written.
func one[V comparable](path string, parse func(yamlfile.Scalar) (V, *yamlfile.Refusal), show func(V) any,
	at func(target) *V) setting {
	return key(path, yamlfile.One(parse, at), func(t target) *yamlfile.Node {
		var zero V
		if v := *at(t); v != zero {
			return yamlfile.Of(show(v))
		}
		return nil
	})
}

func (s setting) required(hint string) setting {
	s.Required = hint
	return s
}

func (s setting) hidden() setting {
	s.show = nil
	return s
}

// findKey returns the key of the setting at a path, and the part of the path that
// matches the last "*" of the key's own path.
func findKey(r *reader, path string) (found yamlfile.Key[target], name string, ok bool) {
	for _, k := range r.Schema {
		parent, isFree := strings.CutSuffix(k.Path, "*")
		switch {
		case strings.HasPrefix(k.Path, "include."):
		case k.Path == path:
			_, name := k.Parent()
			return k, name, true
		case isFree && strings.HasPrefix(path, parent) && len(path) > len(parent):
			return k, path[len(parent):], true
		}
	}
	return yamlfile.Key[target]{}, "", false
}

// readSetting reads the value of the setting at a path into t.
func readSetting(r *reader, t target, path string, at yamlfile.Pos, n *yamlfile.Node) {
	k, name, _ := findKey(r, path)
	k.Read(r, place{Path: k.Path, Key: yamlfile.Scalar{Text: name, Pos: at}, To: t}, n)
}

// settable returns the mistake in the path of a setting: of the service or the
// load, or with all, of the experiment.
func settable(r *reader, path string, all bool) *yamlfile.Refusal {
	k, _, ok := findKey(r, path)
	ofRun := strings.HasPrefix(k.Path, "service.") || strings.HasPrefix(k.Path, "load.")
	switch {
	case ok && holdsOthers(k.Path):
		return yamlfile.Refuse("name one of the settings in it, as in "+within(k.Path),
			"%s holds settings, and is none", yamlfile.Quote(path))
	case ok && (ofRun || all):
		return nil
	case ok:
		return yamlfile.Refuse("settings below service and load can", "%s cannot differ between configurations",
			yamlfile.Quote(path))
	}
	return yamlfile.Refuse(rightPath(r, path, all), "there is no setting %s", yamlfile.Quote(path))
}

// holdsOthers reports whether a key of the file only contains other keys.
func holdsOthers(path string) bool {
	return slices.Contains([]string{"service", "service.limits", "load", "matrix", "quick"}, path)
}

// within returns the path of a setting below a key, as an example.
func within(path string) string {
	return map[string]string{
		"service": "service.output", "service.limits": "service.limits.files", "load": "load.connections",
		"matrix": "matrix.service.output", "quick": "load.duration",
	}[path]
}

// rightPath returns the hint for an unknown path.
func rightPath(r *reader, path string, all bool) string {
	var paths []string
	for _, k := range r.Schema {
		ofRun := strings.HasPrefix(k.Path, "service.") || strings.HasPrefix(k.Path, "load.")
		if (ofRun || all) && !strings.Contains(k.Path, "*") && !holdsOthers(k.Path) {
			paths = append(paths, k.Path)
		}
	}
	for _, p := range paths { // "connections" means load.connections
		if strings.HasSuffix(p, "."+path) {
			return yamlfile.DidYouMean(p)
		}
	}
	if near := nearest.Word(path, paths); near != "" {
		return yamlfile.DidYouMean(near)
	}
	return "they are written as service.output, service.env.NAME and load.connections"
}
