package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/internal/yamlfile"
)

// includable are the top-level keys of an included file.
var includable = []string{"constraints", "upstreams", "routes"}

// repeatHint is the hint for anchors, aliases and merge keys.
const repeatHint = "write a value for several routes in defaults, or in a group"

// maxIncluded is the maximum number of included files. Each has the maximum size of a
// configuration.
const maxIncluded = 1000

// readFile reads the configuration itself. With included files, the keys that they can
// have are checked later.
func (r *reader) readFile(root *yamlfile.Node) {
	if slices.ContainsFunc(root.Pairs, func(p yamlfile.Pair) bool { return p.Key.Text == "include" }) {
		r.Schema = withoutRequired(r.Schema)
	}
	r.readKeys(r.fileReader, root)
}

// readKeys reads the keys of a file, and then its routes.
func (r *reader) readKeys(in *fileReader, root *yamlfile.Node) {
	in.Fields(place{To: filling{reader: r}}, root)
	for _, read := range r.routeLists {
		read()
	}
	r.routeLists = nil
}

// withoutRequired returns a schema in which the keys of an included file are optional.
func withoutRequired(schema []key) []key {
	optional := slices.Clone(schema)
	for i := range optional {
		if slices.Contains(includable, optional[i].Path) {
			optional[i].Required = ""
		}
	}
	return optional
}

// includedSchema returns the schema of an included file.
func includedSchema() []key {
	var keys []key
	for _, k := range withoutRequired(schema) {
		top, _, below := strings.Cut(k.Path, ".")
		switch {
		case slices.Contains(includable, top):
			keys = append(keys, k)
		case !below:
			keys = append(keys, key{Path: k.Path, Read: refuseIncluded})
		}
	}
	return keys
}

// refuseIncluded refuses a key that only the configuration itself can have.
func refuseIncluded(r *fileReader, p place, _ *yamlfile.Node) {
	r.Mistakef(p.Key.Pos, "move it to the file that includes this one",
		"an included file has only %s: not %s", strings.Join(includable, ", "), yamlfile.Quote(p.Key.Text))
}

// readIncluded reads the included files. The name of the configuration is file.
func (r *reader) readIncluded(file string) {
	names := r.findIncluded(file)
	if len(names) > maxIncluded {
		r.Mistakef(r.include[0].Pos, "join some of them", "%d included files are too many; the limit is %d", len(names),
			maxIncluded)
		return
	}
	keys := includedSchema()
	for _, name := range names {
		src, ok := r.readNamed(r.File, name.Pos, "the included file", name.Text)
		if !ok {
			continue
		}
		f, root := yamlfile.Read(name.Text, "an included file", src, repeatHint)
		r.included = append(r.included, f)
		if root == nil {
			continue // empty, or not YAML
		}
		in := *r.fileReader
		in.File, in.Schema = f, keys
		r.readKeys(&in, root)
	}
	r.requireIncluded()
}

// findIncluded returns the names of the included files, in the order of their patterns,
// with the position of the pattern.
func (r *reader) findIncluded(file string) (names []yamlfile.Scalar) {
	seen := map[string]bool{}
	own, _ := os.Stat(file)
	for _, pattern := range r.include {
		path := namedfile.Resolve(file, pattern.Text)
		escaped := path
		if !filepath.IsAbs(pattern.Text) {
			escaped = filepath.Join(escapeGlob(filepath.Dir(file)), pattern.Text)
		}
		found, err := filepath.Glob(escaped)
		if err != nil {
			r.Mistakef(pattern.Pos, "as in routes/*.yaml", "%s is not a pattern of files", yamlfile.Quote(pattern.Text))
			continue
		}
		r.config.Include = append(r.config.Include, escaped)
		if found == nil && !strings.ContainsAny(pattern.Text, `*?[`) {
			found = []string{path} // reading it reports that it is missing
		}
		if !isHidden(path) {
			found = slices.DeleteFunc(found, isHidden)
		}
		if len(found) == 0 {
			r.Warnf(pattern.Pos, namedfile.RelativeHint, "no file matches %s", yamlfile.Quote(path))
		}
		for _, name := range found { // sorted
			r.noteState(name)
			info, err := os.Stat(name)
			switch {
			case seen[name]:
			case err == nil && own != nil && os.SameFile(info, own):
				r.Mistakef(pattern.Pos, "give the included files a folder of their own, as in routes/*.yaml",
					"%s includes this file itself", yamlfile.Quote(pattern.Text))
			default:
				seen[name] = true
				names = append(names, yamlfile.Scalar{Text: name, Pos: pattern.Pos})
			}
		}
	}
	return names
}

// escapeGlob returns the pattern that matches only a path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// isHidden reports whether a file has a name that begins with a dot, as the temporary
// files of editors have.
func isHidden(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }

// requireIncluded checks that the keys that the configuration or an included file must
// have exist.
func (r *reader) requireIncluded() {
	if len(r.include) == 0 {
		return
	}
	for _, k := range schema {
		if k.Path == "routes" && len(r.routes) == 0 {
			r.Mistakef(r.include[0].Pos, k.Required, "neither this file nor an included one has %s", yamlfile.Quote(k.Path))
		}
	}
}
