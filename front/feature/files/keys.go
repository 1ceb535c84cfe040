package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/front/internal/files"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key files: the files of a folder.
type Config struct {
	// Root is the path of the folder. It is looked up for each request.
	Root string

	// Index are the names of the file that is served for a folder, in the order of
	// preference. Default "index.html"; empty for none.
	Index []string

	// Fallback is the path below Root, with a slash at its start, of the file that is served
	// with status 200 if there is no other. Empty responds with 404.
	Fallback string

	// Precompressed are the content codings of compressed files beside the others: zstd
	// (.zst), br (.br) and gzip (.gz). The first one has precedence. Default none.
	Precompressed []string

	// CacheControl is the value of Cache-Control; empty for none.
	CacheControl string
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) **Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "root", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			c := &Config{Index: []string{"index.html"}}
			*at(p.To) = c
			r.Fields(p, n)
			checkFallback(r, p, c)
		}},
		{Path: path + ".root", Doc: "the folder of the files",
			Required: "name the folder of the files, as in ./public",
			Read:     func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) { readRoot(r, p, n, *at(p.To)) }},
		{Path: path + ".index", Doc: "the files that are served for a folder",
			Off:  func(t T) { (*at(t)).Index = nil },
			Read: yamlfile.Some(parseIndex, func(t T) *[]string { return &(*at(t)).Index })},
		{Path: path + ".fallback", Doc: "the file that is served if there is no other",
			Read: yamlfile.One(parseFallback, func(t T) *string { return &(*at(t)).Fallback })},
		{Path: path + ".precompressed", Doc: "codings of compressed files beside the files",
			Read: yamlfile.Some(yamlfile.Word(files.Codings()), func(t T) *[]string { return &(*at(t)).Precompressed })},
		{Path: path + ".cache_control", Doc: "the Cache-Control of files",
			Read: yamlfile.One(scalar.FieldValue, func(t T) *string { return &(*at(t)).CacheControl })},
	}
}

// checkFallback warns of a fallback that does not exist.
func checkFallback[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], c *Config) {
	if c.Fallback == "" || c.Root == "" {
		return
	}
	if info, err := os.Stat(filepath.Join(c.Root, c.Fallback)); err != nil || info.IsDir() {
		r.Warnf(p.Key.Pos, "requests without a file get 404", "the root %s has no file %s", yamlfile.Quote(c.Root),
			yamlfile.Quote(c.Fallback))
	}
}

// readRoot reads the path of a folder, relative to the folder of the file that names it.
func readRoot[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, c *Config) {
	path, ok := yamlfile.ReadOne(r, p, n, scalar.Path)
	if !ok {
		return
	}
	root := namedfile.Resolve(r.Name(), path.Text)
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errNotFolder
	}
	if err != nil {
		r.Mistakef(n.Pos, namedfile.RelativeHint, "the root %s: %s", yamlfile.Quote(root), namedfile.Cause(err))
	}
	c.Root = root
}

var errNotFolder = errors.New("not a folder")

// parseIndex reads the name of a file.
func parseIndex(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a file", Pattern: "[^/]+"})
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
	s.Describe(yamlfile.Form{Name: "path below the root", Pattern: "/.+"})
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
