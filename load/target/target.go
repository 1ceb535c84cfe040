// Package target describes the requests of a load test. It reads them from files
// and makes forms.
package target

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/load/internal/request"
)

// A Target is a request. A Plan sends its Targets in turn.
//
// URL, the values of Header, and Body.Text may hold templates, which are filled in
// for each request:
//
//	{{seq}}               the request's number in the run, from 0
//	{{uuid}}              a random UUID, version 4
//	{{rand 1 100}}        a random integer, both ends included
//	{{line "users.txt"}}  the next line of the file
//	{{now}}               the time, in milliseconds since 1970
//	{{"{{"}}              the text between the quotes, unchanged
//
// Random values depend only on the Plan's Seed and on seq. Each target begins with
// the first line of a file, and all its templates of one file use the same line;
// threads share the lines. In a URL a line is percent-encoded, slashes included. In
// a header a line may not have control characters.
//
// The path is sent as it is written, without cleaning. The fragment is not sent.
// User and password in the URL become Basic Authorization. Unless Header has these
// fields, Host comes from the URL, User-Agent is weir-load and Accept is */*.
// Content-Length comes from the body and cannot be set.
type Target struct {
	Method string // "" is GET, or POST with a body
	URL    string // absolute, http or https
	Header []Header
	Body   Body
}

// A Header is one field of a request's header, which may be Host. Names are sent
// as they are written.
type Header struct{ Name, Value string }

// A Body is the body of a request: Text, or the first Size bytes of File if that
// is not nil. The zero Body is empty.
type Body struct {
	Text string

	// File is read from offset 0 for each request, by several goroutines at the
	// same time. A small one (a few MiB) may be read only once, before the first
	// request. It has no templates. It is not closed.
	File io.ReaderAt
	Size int64
}

// check returns an error if the target is not well-formed.
func (t *Target) check() error {
	_, err := request.Parse(t.Method, t.URL, t.Header, request.Body(t.Body))
	return err
}

// addHeader adds a field, except for the length of the body.
func (t *Target) addHeader(h Header) {
	if !strings.EqualFold(h.Name, "Content-Length") {
		t.Header = append(t.Header, h)
	}
}

func (t *Target) hasHeader(name string) bool {
	return slices.ContainsFunc(t.Header, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

func (t *Target) removeHeader(name string) {
	t.Header = slices.DeleteFunc(t.Header, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Rebase returns the targets with their scheme, host and port replaced by the origin's,
// such as "http://127.0.0.1:8080". It is for files that were recorded with other
// servers. The origin's user and password replace the user and password of the URLs.
// Host fields in Header stay.
func Rebase(targets []Target, origin string) ([]Target, error) {
	to, err := request.ParseLocation(origin)
	if err != nil {
		return nil, fmt.Errorf("origin %q: %w", origin, err)
	}
	if rest := origin[to.Path:]; rest != "" && rest != "/" {
		return nil, fmt.Errorf("origin %q: %w", origin,
			request.ErrorAt(to.Path, "%q is more than an origin; targets keep their paths", rest))
	}
	rebased := slices.Clone(targets)
	for i, t := range targets {
		l, err := request.ParseLocation(t.URL)
		if err != nil {
			return nil, fmt.Errorf("load: target %d: URL %w", i+1, err)
		}
		rebased[i].URL = origin[:to.Path] + t.URL[l.Path:]
	}
	return rebased, nil
}

// GrowPath returns the target and n copies with longer and longer paths: for /api
// and 3 these are /api, /api/0, /api/0/1 and /api/0/1/2. It tests a router with
// many segments. The query stays. All copies share one body: a text without
// templates becomes a File. A malformed URL is copied unchanged; Run rejects it.
func GrowPath(t Target, n int) []Target {
	if text := t.Body.Text; n > 0 && text != "" && t.Body.File == nil && !strings.Contains(text, "{{") {
		t.Body = Body{File: strings.NewReader(text), Size: int64(len(text))}
	}
	targets := []Target{t}
	end := request.PathEnd(t.URL)
	path, query := strings.TrimSuffix(t.URL[:end], "/"), t.URL[end:]
	for i := range max(0, n) {
		path += "/" + strconv.Itoa(i)
		grown := t
		grown.URL = path + query
		targets = append(targets, grown)
	}
	return targets
}

// An OriginsError reports that the targets of a plan have several origins. A run
// has one; Rebase gives all targets the same.
type OriginsError struct {
	First  string // origin of the first target, such as "http://a.example"
	Other  string // another origin
	Target int    // number of the first target with the other origin, from 1
}

func (e *OriginsError) Error() string {
	return fmt.Sprintf("load: the targets have several origins: %s (target 1) and %s (target %d); a run has one; "+
		"target.Rebase sets it",
		e.First, e.Other, e.Target)
}
