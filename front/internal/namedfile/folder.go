package namedfile

import (
	"os"
	"path/filepath"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// ReadFolder reads the path of a folder to a field, also if it reports a mistake about the folder. The front door makes
// a folder if only the last part of its path is missing. kind begins the message of a mistake.
func ReadFolder[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, kind string, to *string) {
	n.DescribeUnset(*to)
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Path)
	if !ok {
		return
	}
	r.Positions[p.Path] = []yamlfile.Pos{path.Pos}
	folder := Resolve(r.Name(), path.Text)
	*to = folder
	info, err := os.Stat(folder)
	switch {
	case err == nil && !info.IsDir():
		r.Mistakef(path.Pos, "name a folder", "%s %s is a file", kind, yamlfile.Quote(folder))
	case err != nil:
		if _, err := os.Stat(filepath.Dir(folder)); err != nil {
			r.Mistakef(path.Pos, "create the folder that contains it; "+RelativeHint, "%s %s: %s", kind,
				yamlfile.Quote(folder), Cause(err))
		}
	}
}
