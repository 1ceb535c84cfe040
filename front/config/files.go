package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/front/internal/files"
	"github.com/weirhq/weir/internal/yamlfile"
)

func readFiles(r *fileReader, p place, n *yamlfile.Node) {
	f := &Files{Index: []string{"index.html"}}
	p.To.route.Files = f
	r.Fields(p, n)
	if f.Fallback == "" || f.Root == "" {
		return
	}
	if info, err := os.Stat(filepath.Join(f.Root, f.Fallback)); err != nil || info.IsDir() {
		r.Warnf(p.Key.Pos, "requests without a file get 404", "the root %s has no file %s", yamlfile.Quote(f.Root),
			yamlfile.Quote(f.Fallback))
	}
}

// readRoot reads the path of a folder, relative to the folder of the file that names it.
func readRoot(r *fileReader, p place, n *yamlfile.Node) {
	root, ok := yamlfile.ReadOne(r, p, n, yamlfile.Text)
	if !ok {
		return
	}
	root = resolve(r.Name(), root)
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errNotFolder
	}
	if err != nil {
		r.Mistakef(n.Pos, relativeHint, "the root %s: %s", yamlfile.Quote(root), syscallError(err))
	}
	p.To.route.Files.Root = root
}

var errNotFolder = errors.New("not a folder")

// parseIndex reads the name of a file.
func parseIndex(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name, why := files.ParseName(s.Text)
	switch {
	case why != "":
		return "", yamlfile.Refuse("such files are not served", "%s: %s", yamlfile.Quote(s.Text), why)
	case name.Folder || strings.Contains(name.Path, "/"):
		return "", yamlfile.Refuse("write a name, as in index.html", "%s is not the name of a file", yamlfile.Quote(s.Text))
	}
	return name.Path, nil
}

// parseFallback reads the path of a file below the root.
func parseFallback(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	below, ok := strings.CutPrefix(s.Text, "/")
	if !ok {
		return "", yamlfile.Refuse("write "+yamlfile.Quote("/"+s.Text)+", a path below the root",
			"%s does not begin with a slash", yamlfile.Quote(s.Text))
	}
	name, why := files.ParseName(below)
	switch {
	case why != "":
		return "", yamlfile.Refuse("such files are not served", "%s: %s", yamlfile.Quote(s.Text), why)
	case name.Folder:
		return "", yamlfile.Refuse("write the path of a file, as in /index.html", "%s is a folder", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}
