// Package files responds with the files of a folder: the key files.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/files"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
)

// serveFiles responds with the files of a folder.
type serveFiles struct {
	site     files.Site
	rest     bool          // the file's name is the rest of the path, which the pattern's last parameter matches
	vary     []stage.Field // Vary of responses that depend on the coding of the file, or nil
	caching  []stage.Field // Cache-Control of responses with a file, or nil
	route    string
	failures *prometheus.CounterVec
}

// A Feature holds the state that the files of all routes share.
type Feature struct{ failures *prometheus.CounterVec }

// New returns the feature of a front door.
func New(d *stage.Door) *Feature {
	f := &Feature{metric.NewCounters("weir_file_failures_total",
		"Requests for files that could not be opened or read, by route and reason.", "route", "reason")}
	d.Metrics.MustRegister(f.failures)
	return f
}

// Action returns the action of a route, or nil.
func (f *Feature) Action(c *Config, r *stage.Route) (stage.Action, error) {
	if c == nil {
		return nil, nil
	}
	files.LoadTypes()
	s := &serveFiles{
		site: files.Site{
			Folder: files.Folder(c.Root), Direct: files.Folder(c.Root).IsDirect(), Index: c.Index,
			Fallback: strings.TrimPrefix(c.Fallback, "/"), Precompressed: c.Precompressed,
		},
		rest:     strings.HasSuffix(r.Match, "...}"),
		route:    r.Match,
		failures: f.failures,
	}
	if c.CacheControl != "" {
		s.caching = []stage.Field{{Name: "Cache-Control", Value: c.CacheControl}}
	}
	if len(s.site.Precompressed) > 0 {
		s.vary = []stage.Field{{Name: "Vary", Value: "Accept-Encoding"}}
	}
	return s, nil
}

// methodsOfFiles are the methods of files. The front door itself responds to OPTIONS.
const (
	methodsOfFiles = "GET, HEAD, OPTIONS"
	onlyReads      = "files have only GET and HEAD"
)

func (s *serveFiles) Respond(x *stage.Exchange) {
	switch x.Method {
	case http.MethodGet, http.MethodHead:
		s.serve(x)
	case http.MethodOptions:
		x.Respond(204, "", stage.Field{Name: "Allow", Value: methodsOfFiles})
	default:
		x.Refuse(405, onlyReads, stage.Field{Name: "Allow", Value: methodsOfFiles})
	}
}

// serve responds to a GET or HEAD.
func (s *serveFiles) serve(x *stage.Exchange) {
	name, refused := s.name(x)
	if refused != "" {
		x.Refuse(404, refused)
		return
	}
	conditions := fileConditions(x.Header)
	found, err := s.find(x, name, conditions.AcceptEncoding)
	switch {
	case err != nil:
		s.refuse(x, err)
	case found.AddSlash:
		x.Respond(301, "", stage.Field{Name: "Location", Value: withSlash(x.Path, x.Query)})
	default:
		defer found.Close()
		s.send(x, &found, &conditions)
	}
}

// name returns the name of the file that a request is for, or why there is none. An escaped
// slash is refused: the routes treat it as a part of a segment, and the file system as a
// separator.
func (s *serveFiles) name(x *stage.Exchange) (n files.Name, refused string) {
	if strings.Contains(x.Path, "%2F") || strings.Contains(x.Path, "%2f") {
		return n, "the path has an escaped slash"
	}
	if s.rest {
		_, rest := x.Params.At(x.Params.Len() - 1)
		return files.ParseName(rest)
	}
	path, err := url.PathUnescape(x.Path)
	if err != nil {
		return n, "the path has a bad escape"
	}
	return files.ParseName(path[1:])
}

// find finds a file. It waits for the disk outside of the loop, if it has to.
func (s *serveFiles) find(x *stage.Exchange, n files.Name, acceptEncoding string) (files.Found, error) {
	found, err := s.site.Find(n, acceptEncoding, false)
	if files.WouldWait(err) {
		return s.findOnDisk(x, n, acceptEncoding)
	}
	return found, err
}

func (s *serveFiles) findOnDisk(x *stage.Exchange, n files.Name, acceptEncoding string) (found files.Found, err error) {
	x.Block(func() { found, err = s.site.Find(n, acceptEncoding, true) })
	return found, err
}

// withSlash returns the path of a folder with a slash at its end, relative to the request's:
// a proxy in front may have changed the beginning of the path.
func withSlash(path, query string) string {
	location := template.AppendURL([]byte("./"), path[strings.LastIndexByte(path, '/')+1:])
	location = append(location, '/')
	if query != "" {
		location = template.AppendURL(append(location, '?'), query)
	}
	return string(location)
}

// refuse responds to a request whose file cannot be opened.
func (s *serveFiles) refuse(x *stage.Exchange, err error) {
	switch status, why := statusOf(err); status {
	case 503:
		x.Err = &proxying.Error{Kind: proxying.NoFile, Step: openingFile, Err: err}
		x.Refuse(status, "", stage.Field{Name: "Retry-After", Value: "1"})
	case 500:
		x.Err = s.failure("open", openingFile, err)
		x.Refuse(status, "")
	default:
		x.Refuse(status, why)
	}
}

// statusOf returns the status of the response if a file cannot be opened, and the reason.
func statusOf(err error) (status int, why string) {
	switch {
	case errors.Is(err, fs.ErrNotExist) && !files.IsFolderError(err):
		return 404, "no such file"
	case errors.Is(err, fs.ErrPermission) && !files.IsFolderError(err):
		return 403, "the file may not be read"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return 503, err.Error()
	}
	return 500, err.Error()
}

const openingFile = "opening the file"

// failure counts and returns a failure. reason is the label of the metric.
func (s *serveFiles) failure(reason, step string, err error) *proxying.Error {
	s.failures.WithLabelValues(s.route, reason).Inc()
	return &proxying.Error{Kind: stage.FileFailed, Step: step, Err: err}
}

// send responds with a file.
func (s *serveFiles) send(x *stage.Exchange, found *files.Found, conditions *files.Conditions) {
	version := found.Version()
	r := conditions.Respond(found, version, x.Method == http.MethodHead)
	if r.Status == http.StatusPreconditionFailed {
		x.Refuse(r.Status, "a precondition fails")
		return
	}
	fields := append(make([]stage.Field, 0, 10), s.vary...)
	if r.Status == http.StatusRequestedRangeNotSatisfiable {
		// No Cache-Control: a cache that stores this response could send it to a client that asks for the whole file.
		x.Refuse(r.Status, "the file ends before the range",
			append(fields, stage.Field{Name: "Content-Range", Value: r.ContentRange})...)
		return
	}
	fields = append(fields, s.caching...)
	if version.ETag != "" {
		modified := version.Modified
		if modified.After(x.Arrived) { // RFC 9110, section 8.8.2.1: never in the future
			modified = x.Arrived
		}
		fields = append(fields, stage.Field{Name: "ETag", Value: version.ETag},
			stage.Field{Name: "Last-Modified", Value: modified.UTC().Format(http.TimeFormat)})
	}
	if r.Status == http.StatusNotModified {
		x.RespondWith(r.Status, fields, "")
		return
	}
	fields = append(fields, stage.Field{Name: "Content-Type", Value: r.Type},
		stage.Field{Name: "X-Content-Type-Options", Value: "nosniff"},
		stage.Field{Name: "Accept-Ranges", Value: "bytes"})
	if found.Coding != "" {
		fields = append(fields, stage.Field{Name: "Content-Encoding", Value: found.Coding})
	}
	if r.ContentRange != "" {
		fields = append(fields, stage.Field{Name: "Content-Range", Value: r.ContentRange})
	}
	x.LeaveBody()
	x.RespondFrom(r.Status, fields, r.Length, &fileBody{of: s, x: x, file: found.File, parts: r.Body})
}

// fileConditions collects the fields that determine the response.
func fileConditions(header []stage.Field) (c files.Conditions) {
	for i := range header {
		f := &header[i]
		var value *string
		switch len(f.Name) {
		case len("Range"):
			value = ifNamed(f, "Range", &c.Range)
		case len("If-Range"): // and of If-Match
			if value = ifNamed(f, "If-Range", &c.IfRange); value == nil {
				value = ifNamed(f, "If-Match", &c.IfMatch)
			}
		case len("If-None-Match"):
			value = ifNamed(f, "If-None-Match", &c.IfNoneMatch)
		case len("Accept-Encoding"):
			value = ifNamed(f, "Accept-Encoding", &c.AcceptEncoding)
		case len("If-Modified-Since"):
			value = ifNamed(f, "If-Modified-Since", &c.IfModifiedSince)
		case len("If-Unmodified-Since"):
			value = ifNamed(f, "If-Unmodified-Since", &c.IfUnmodifiedSince)
		}
		switch {
		case value == nil:
		case *value == "":
			*value = f.Value
		default:
			*value += ", " + f.Value
		}
	}
	return c
}

// ifNamed returns value if the field has the name, or nil.
func ifNamed(f *stage.Field, name string, value *string) *string {
	if httpsyntax.EqualFold(f.Name, name) {
		return value
	}
	return nil
}

// A fileBody reads the body of a response.
type fileBody struct {
	of    *serveFiles
	x     *stage.Exchange
	file  files.File
	parts []files.Part // those that are left
	sends bool         // a beginning of the first part was sent by sendfile
}

var errShortened = errors.New("the file has become shorter")

// Read implements io.Reader.
func (b *fileBody) Read(p []byte) (n int, err error) {
	if part := b.next(); part != nil {
		if part.Text != "" {
			n = copy(p, part.Text)
			part.Text = part.Text[n:]
			return n, nil
		}
		n, err = b.readAt(p[:min(int64(len(p)), part.Length)], part.From)
		switch {
		case err != nil:
			return 0, b.of.failure("read", "reading the file", err)
		case n == 0:
			return 0, b.of.failure("shortened", "reading the file", errShortened)
		}
		part.From += int64(n)
		part.Length -= int64(n)
		return n, nil
	}
	return 0, io.EOF
}

// next returns the first part that is not empty, or nil.
func (b *fileBody) next() *files.Part {
	for ; len(b.parts) > 0; b.parts = b.parts[1:] {
		if part := &b.parts[0]; part.Text != "" || part.Length > 0 {
			return part
		}
		b.sends = false
	}
	return nil
}

func (b *fileBody) readAt(p []byte, at int64) (n int, err error) {
	n, wait, err := b.file.ReadAt(p, at, false)
	if wait {
		return b.readDisk(p, at)
	}
	return n, err
}

func (b *fileBody) readDisk(p []byte, at int64) (n int, err error) {
	b.x.Block(func() { n, _, err = b.file.ReadAt(p, at, true) })
	return n, err
}

// Explain implements stage.Explainer.
func (s *serveFiles) Explain(x *stage.Exchange) (steps []string, ends bool) {
	return []string{s.decide(x)}, true
}

// decide returns what serve does, and opens the file as it does.
func (s *serveFiles) decide(x *stage.Exchange) string {
	switch x.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		return "responds with 204 and Allow: " + methodsOfFiles
	default:
		return "responds with 405: " + onlyReads
	}
	name, refused := s.name(x)
	if refused != "" {
		return "responds with 404: " + refused
	}
	conditions := fileConditions(x.Header)
	found, err := s.site.Find(name, conditions.AcceptEncoding, true)
	switch {
	case err != nil:
		status, why := statusOf(err)
		return fmt.Sprintf("responds with %d: %s", status, why)
	case found.AddSlash:
		return "redirects with 301 to " + withSlash(x.Path, x.Query)
	}
	defer found.Close()
	file := fmt.Sprintf("%q", found.Path)
	if found.Coding != "" {
		file += " with " + found.Coding
	}
	file += " in the folder " + string(s.site.Folder)
	if r := conditions.Respond(&found, found.Version(), x.Method == http.MethodHead); r.Status != http.StatusOK {
		return fmt.Sprintf("responds with %d for %s", r.Status, file)
	}
	return "serves " + file
}
