// Package rewrite changes the targets of requests before they are forwarded: the keys strip_prefix, add_prefix
// and rewrite.
package rewrite

import (
	"strings"

	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A rewrite changes targets. It works on the escaped path: nothing is decoded and encoded again. It does not
// change itself, so goroutines may share it. As a stage, it changes requests before they are forwarded.
type rewrite struct {
	segments int    // number of segments that are removed from the start
	prefix   string // added to the start

	path  *template.Template // replaces the path; nil keeps it
	query *template.Template // replaces the query; nil keeps it
}

// parse returns the rewrite of a route with a pattern. refused has the refusals of StripPrefix, AddPrefix and
// To, which are nil for valid ones.
func parse(c Config, p *template.Pattern) (_ *rewrite, refused [3]*yamlfile.Refusal) {
	r := new(rewrite)
	if c.StripPrefix != "" {
		refused[0] = r.strip(c.StripPrefix, p)
	}
	if c.AddPrefix != "" {
		refused[1] = r.add(c.AddPrefix)
	}
	switch {
	case c.To == "":
	case c.StripPrefix != "" || c.AddPrefix != "":
		refused[2] = yamlfile.Refuse("keep one of them; off removes one that is inherited", "a route has either prefixes or a rewrite")
	default:
		refused[2] = r.replace(c.To, p)
	}
	return r, refused
}

// strip removes a prefix such as /api, with which each path that the pattern matches begins.
func (r *rewrite) strip(prefix string, p *template.Pattern) *yamlfile.Refusal {
	if refused := target.CheckPrefix(prefix); refused != nil {
		return refused
	}
	segments, ok := p.Begins(prefix)
	if !ok {
		return yamlfile.Refuse("the match has to begin with it, as in "+prefix+"/{path...}",
			"the pattern also matches paths that do not begin with %s", yamlfile.Quote(prefix))
	}
	r.segments = segments
	return nil
}

// add adds a prefix such as /v2, after a prefix was removed.
func (r *rewrite) add(prefix string) *yamlfile.Refusal {
	refused := target.CheckPrefix(prefix)
	if refused == nil {
		r.prefix = string(template.AppendURL(nil, prefix))
	}
	return refused
}

// replace replaces the path, and the query if the text has a "?", by a text with values of the
// request, such as /new/{id}?x={y}.
func (r *rewrite) replace(text string, p *template.Pattern) (refused *yamlfile.Refusal) {
	path, query, hasQuery := strings.Cut(text, "?")
	switch {
	case yamlfile.Printable(text) != text:
		return yamlfile.Refuse("remove it", "%s contains a control character", yamlfile.Quote(text))
	case !strings.HasPrefix(path, "/"):
		return yamlfile.Refuse("write a path, as in /new/{id}", "%s does not begin with a slash", yamlfile.Quote(text))
	case strings.Contains(text, "#"):
		return yamlfile.Refuse("write %23 for the character itself", "a target has no fragment").
			At(strings.IndexByte(text, '#'))
	case strings.Contains(path, "*"):
		return yamlfile.Refuse("write {name} for a parameter of the pattern, and %2A for the character itself",
			`a "*" in a path`).At(strings.IndexByte(text, '*'))
	}
	if r.path, refused = template.Parse(path, template.Path, p); refused != nil {
		return refused
	}
	if hasQuery {
		if r.query, refused = template.Parse(query, template.Query, p); refused != nil {
			return refused.At(refused.Offset + len(path) + 1)
		}
	}
	sample := r.path.Sample()
	why := target.CheckPath(sample)
	if strings.Contains(sample, "//") {
		why = "the path has an empty segment"
	}
	if why != "" {
		return yamlfile.Refuse("servers read such a path in different ways", "%s: %s", yamlfile.Quote(text), why)
	}
	return nil
}

// append appends the target for a request. query is the query as it was sent, with its "?", or
// "". If the target is not unambiguous, append returns the status and the reason of a refusal,
// otherwise 0.
func (r *rewrite) append(dst []byte, v *template.Values, query string) (_ []byte, status int, why string) {
	start := len(dst)
	if r.path == nil {
		rest := afterSegments(v.Path, r.segments)
		switch {
		case r.segments > 0 && hasEmptyStart(rest):
			return dst, 400, "the path has an empty segment after the prefix that is removed"
		case r.prefix == "" && rest == "":
			rest = "/"
		}
		dst = append(append(dst, r.prefix...), rest...)
		return append(dst, query...), 0, ""
	}
	dst, err := r.path.Append(dst, v)
	switch {
	case err == template.ErrTooLong:
		return dst, 414, "the rewritten path is too long"
	case err != nil:
		return dst, 400, "a parameter of the path would add an empty segment"
	}
	made := httpsyntax.View(dst[start:])
	switch why := target.CheckPath(made); {
	case why != "":
		return dst, 400, why + " after it is rewritten"
	case hasUnnamedSegment(made):
		return dst, 400, "the path has an empty segment with parameters after it is rewritten"
	}
	if r.query == nil {
		return append(dst, query...), 0, ""
	}
	if query, fixed := r.query.Text(); fixed && query == "" {
		return dst, 0, ""
	}
	if dst, err = r.query.Append(append(dst, '?'), v); err != nil {
		return dst, 414, "the rewritten query is too long"
	}
	return dst, 0, ""
}

// afterSegments returns the part of a path after its first n segments. It begins with a slash
// or is empty.
func afterSegments(path string, n int) string {
	for ; n > 0; n-- {
		next := strings.IndexByte(path[1:], '/')
		if next < 0 {
			return ""
		}
		path = path[1+next:]
	}
	return path
}

// hasEmptyStart reports whether the first segment of a path is empty for some servers, although
// others follow it. A request could reach a path in this way that another route is for.
func hasEmptyStart(path string) bool {
	return strings.HasPrefix(path, "//") || strings.HasPrefix(path, "/%2F") || strings.HasPrefix(path, "/%2f") ||
		strings.HasPrefix(path, "/;") && hasUnnamedSegment(path)
}

// hasUnnamedSegment reports whether a path has a segment with parameters but without a name,
// as in "/;v=1/admin", and others after it. Some servers ignore the parameters.
func hasUnnamedSegment(path string) bool {
	for {
		i := strings.Index(path, "/;")
		if i < 0 {
			return false
		}
		path = path[i+1:]
		if strings.Contains(path, "/") || strings.Contains(path, "%2F") || strings.Contains(path, "%2f") {
			return true
		}
	}
}
