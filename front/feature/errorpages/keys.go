package errorpages

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key error_pages: the bodies of error responses.
type Config struct {
	Pages []StatusPage // in file order; none has the same Statuses as another

	// Intercept also replaces the bodies of error responses of upstreams.
	Intercept bool
}

// StatusPage is the body of responses with some statuses.
type StatusPage struct {
	Statuses string // one, such as "404", or "4xx" or "5xx"; one has precedence
	Page     Page
}

// A Page is the files of which a client gets one: that whose type its Accept prefers, and otherwise the first.
type Page []File

// File is a file of a page.
type File struct {
	Type string // the Content-Type, by the extension of the file's name
	Body string // at most 1 MiB
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept, and file reads a file of a page, or
// returns nil if it has reported a mistake.
func Keys[T any](path string, at func(T) **Config, file FileReader[T]) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = new(Config)
			read(r, p, n)
		}},
		{Path: path + ".intercept", Doc: "replace the bodies of errors of upstreams too",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &(*at(t)).Intercept })},
		{Path: path + ".*", AnyCase: true, Doc: "files with the body of responses with a status",
			Called: "the error page %s",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				if statuses, ok := readStatuses(r.File, p.Key); ok {
					c := *at(p.To)
					c.Pages = append(c.Pages, StatusPage{statuses, ReadPage(r, p, n, file)})
				}
			}},
	}
}

// A FileReader reads a file that is named in another one, or returns nil if it has reported a mistake.
type FileReader[T any] func(t T, by *yamlfile.File, path yamlfile.Scalar) *File

// read reads a mapping of statuses to files, which also has other keys.
func read[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
	if n.Kind != yamlfile.Mapping {
		r.Fields(p, n)
		return
	}
	statuses, others := *n, *n
	statuses.Pairs, others.Pairs = nil, nil
	for _, pair := range n.Pairs {
		if strings.ContainsAny(pair.Key.Text, "0123456789") {
			statuses.Pairs = append(statuses.Pairs, pair)
		} else {
			others.Pairs = append(others.Pairs, pair)
		}
	}
	r.Names(p, &statuses)
	r.Fields(p, &others)
	if len(statuses.Pairs) == 0 {
		r.Mistakef(p.Key.Pos, "name a file for a status, as in: error_pages: {404: pages/404.html, 5xx: pages/error.html}",
			"%s has no status", yamlfile.Quote(p.Key.Text))
	}
}

// readStatuses reads a status of an error, or a class of them.
func readStatuses(f *yamlfile.File, key yamlfile.Scalar) (statuses string, ok bool) {
	name := strings.ToLower(key.Text)
	if len(name) != 3 || name[0] != '4' && name[0] != '5' || name[1:] != "xx" && !scalar.IsDigits(name[1:]) {
		f.Mistakef(key.Pos, "write one from 400 to 599, or 4xx or 5xx", "%s is not the status of an error",
			yamlfile.Quote(key.Text))
		return "", false
	}
	return name, true
}

// ReadPage reads one or more files.
func ReadPage[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, file FileReader[T]) (page Page) {
	if r.RefuseEmpty(p, n) {
		return nil
	}
	for _, element := range r.Elements(p, n) {
		if path, ok := yamlfile.ReadOne(r, p, element, scalar.Written); ok {
			if f := file(p.To, r.File, path); f != nil {
				page = append(page, *f)
			}
		}
	}
	return page
}

// types are the content types of pages by the extension of their files.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".htm":  "text/html; charset=utf-8",
	".json": "application/json",
	".txt":  "text/plain; charset=utf-8",
	".xml":  "application/xml",
}

// maxBytes is the maximum size of a file. Pages are kept in memory.
const maxBytes = 1 << 20

// CheckFile returns the content type of a file that is about to be read. path is its name as written in the file
// by. If the file cannot be a page, CheckFile reports a mistake and returns false.
func CheckFile(by *yamlfile.File, path yamlfile.Scalar, name string) (contentType string, ok bool) {
	contentType = types[strings.ToLower(filepath.Ext(name))]
	if contentType == "" {
		by.Mistakef(path.Pos, "a page is a file .html, .json, .txt or .xml", "the type of %s is not known",
			yamlfile.Quote(path.Text))
		return "", false
	}
	if info, err := os.Stat(name); err == nil && info.Size() > maxBytes {
		by.Mistakef(path.Pos, "use a smaller page, which refers to images elsewhere",
			"the page %s has %d bytes; the limit is %d", yamlfile.Quote(name), info.Size(), maxBytes)
		return "", false
	}
	return contentType, true
}
