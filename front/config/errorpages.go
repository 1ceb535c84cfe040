package config

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// ErrorPage is the body of responses with some statuses.
type ErrorPage struct {
	Statuses string // one, such as "404", or "4xx" or "5xx"; one has precedence
	Files    []PageFile
}

// errorKeys returns the keys of [ErrorPages] and [Maintenance] below a prefix.
func errorKeys(prefix string) []key {
	return []key{
		{Path: prefix + "error_pages", Read: readErrorPages},
		{Path: prefix + "error_pages.intercept",
			Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &(*f.errorPages()).Intercept })},
		{Path: prefix + "error_pages.*", Read: readErrorPage, Called: "the error page %s"},
		{Path: prefix + "maintenance", Read: readMaintenance},
		{Path: prefix + "maintenance.page", Read: func(r *fileReader, p place, n *yamlfile.Node) {
			(*p.To.maintenance()).Files = p.To.pageFiles(r, p, n)
		}},
		{Path: prefix + "maintenance.retry_after",
			Read: yamlfile.One(parseRetryAfter, func(f filling) *time.Duration { return &(*f.maintenance()).RetryAfter })},
		{Path: prefix + "maintenance.active",
			Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &(*f.maintenance()).Active })},
	}
}

// errorPages returns where the pages that are being read are kept.
func (f filling) errorPages() **ErrorPages {
	if f.route != nil {
		return &f.route.ErrorPages
	}
	return &f.config.ErrorPages
}

// maintenance returns where the response that is being read is kept.
func (f filling) maintenance() **Maintenance {
	if f.route != nil {
		return &f.route.Maintenance
	}
	return &f.config.Maintenance
}

// readErrorPages reads a mapping of statuses to files, which also has other keys.
func readErrorPages(r *fileReader, p place, n *yamlfile.Node) {
	pages := new(ErrorPages)
	*p.To.errorPages() = pages
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

// readErrorPage reads the files for a status.
func readErrorPage(r *fileReader, p place, n *yamlfile.Node) {
	name := strings.ToLower(p.Key.Text)
	if len(name) != 3 || name[0] != '4' && name[0] != '5' || name[1:] != "xx" && !scalar.IsDigits(name[1:]) {
		r.Mistakef(p.Key.Pos, "write one from 400 to 599, or 4xx or 5xx", "%s is not the status of an error",
			yamlfile.Quote(p.Key.Text))
		return
	}
	pages := *p.To.errorPages()
	pages.Pages = append(pages.Pages, ErrorPage{Statuses: name, Files: p.To.pageFiles(r, p, n)})
}

func readMaintenance(r *fileReader, p place, n *yamlfile.Node) {
	*p.To.maintenance() = new(Maintenance)
	r.Fields(p, n)
}

// parseRetryAfter reads a duration of whole seconds, as Retry-After has them.
func parseRetryAfter(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && (d < time.Second || d%time.Second != 0) {
		return 0, yamlfile.Refuse("write whole seconds, as in 30s", "%s is not valid in Retry-After", yamlfile.Quote(s.Text))
	}
	return d, refused
}

// pageTypes are the content types of pages by the extension of their files.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".htm":  "text/html; charset=utf-8",
	".json": "application/json",
	".txt":  "text/plain; charset=utf-8",
	".xml":  "application/xml",
}

// maxPageBytes is the maximum size of a page. Pages are kept in memory.
const maxPageBytes = 1 << 20

// pageFiles reads one or more files, each only once. A relative path is relative to the folder
// of the file that names it.
func (f filling) pageFiles(by *fileReader, p place, n *yamlfile.Node) (files []PageFile) {
	if by.RefuseEmpty(p, n) {
		return nil
	}
	for _, element := range by.Elements(p, n) {
		path, ok := yamlfile.ReadOne(by, p, element, scalar.Written)
		if !ok {
			continue
		}
		if file := f.pageFile(by, path); file != nil {
			files = append(files, *file)
		}
	}
	return files
}

// pageFile reads a file. If it has reported a mistake, it returns nil.
func (r *reader) pageFile(by *fileReader, path yamlfile.Scalar) *PageFile {
	name := namedfile.Resolve(by.Name(), path.Text)
	if file := r.pages[name]; file != nil {
		return file
	}
	kind := pageTypes[strings.ToLower(filepath.Ext(name))]
	if kind == "" {
		by.Mistakef(path.Pos, "a page is a file .html, .json, .txt or .xml", "the type of %s is not known",
			yamlfile.Quote(path.Text))
		return nil
	}
	if info, err := os.Stat(name); err == nil && info.Size() > maxPageBytes {
		by.Mistakef(path.Pos, "use a smaller page, which refers to images elsewhere",
			"the page %s has %d bytes; the limit is %d", yamlfile.Quote(name), info.Size(), maxPageBytes)
		return nil
	}
	src, ok := r.readNamed(by.File, path.Pos, "the page", name)
	if !ok {
		return nil
	}
	if r.pages == nil {
		r.pages = map[string]*PageFile{}
	}
	r.pages[name] = &PageFile{Type: kind, Body: string(src)}
	return r.pages[name]
}
