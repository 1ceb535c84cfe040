package errorpages

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/statuses"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key error_pages: the bodies of error responses.
type Config struct {
	Pages []StatusPage // in file order

	// Intercept also replaces the bodies of error responses of upstreams.
	Intercept bool
}

// StatusPage is the body of responses with some statuses.
type StatusPage struct {
	// Statuses are from 400 to 599. The page with the fewest of them has precedence, and the later one of two with the
	// same number.
	Statuses statuses.Range
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
		{Path: path, NotEmpty: true, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = new(Config)
			read(r, p, n)
		}},
		{Path: path + ".intercept", Doc: "replace the bodies of errors of upstreams too",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &(*at(t)).Intercept })},
		{Path: path + ".*", Doc: "files with the body of responses with a status",
			Called: "the error page %s",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				if set, ok := readStatuses(r.File, p.Key); ok {
					c := *at(p.To)
					c.Pages = append(c.Pages, StatusPage{set, ReadPage(r, p, n, file)})
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
	pages, others := *n, *n
	pages.Pairs, others.Pairs = nil, nil
	for _, pair := range n.Pairs {
		if strings.ContainsAny(pair.Key.Text, "0123456789") {
			pages.Pairs = append(pages.Pairs, pair)
		} else {
			others.Pairs = append(others.Pairs, pair)
		}
	}
	r.Names(p, &pages)
	r.Fields(p, &others)
	if len(pages.Pairs) == 0 && !n.IsReduced() {
		r.Mistakef(p.Key.Pos, "name a file for a status, as in: error_pages: {404: pages/404.html, 5xx: pages/error.html}",
			"%s has no status", yamlfile.Quote(p.Key.Text))
	}
}

// readStatuses reads the statuses of errors. Equal ones have one spelling, because they are the name of a key.
func readStatuses(f *yamlfile.File, key yamlfile.Scalar) (set statuses.Range, ok bool) {
	set, refused := scalar.Statuses(400, "the status of an error")(key)
	if refused != nil && strings.ContainsAny(key.Text, " ,") {
		refused.Hint = "give each status a line of its own, or write a range, as in 500-504 or 5xx"
	}
	if text := set.String(); refused == nil && text != key.Text {
		refused = yamlfile.Refuse("write "+text, "%s is another name of the statuses %s", yamlfile.Quote(key.Text), text)
	}
	if refused != nil {
		f.Refuse(key, refused)
	}
	return set, refused == nil
}

// ReadPage reads one or more files.
func ReadPage[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, file FileReader[T]) (page Page) {
	if r.RefuseEmpty(p, n) {
		return nil
	}
	for _, element := range r.Elements(p, n) {
		if path, ok := yamlfile.ReadOne(r, p, element, scalar.Path); ok {
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
