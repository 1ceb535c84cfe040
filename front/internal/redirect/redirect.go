// Package redirect reads the two addresses of a redirect, and builds the
// Location of its responses.
package redirect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Target is the address that requests are redirected to. It does not change,
// so goroutines may share it.
type Target struct {
	Status int
	To     string // as configured

	origin    *template.Template // scheme and host; empty for the host of the request
	path      *template.Template
	query     *template.Template // nil if the target has no "?"
	fragment  *template.Template // with its "#"
	keepQuery bool               // the request's query is appended
}

// A Query says whether the query of a request is appended to the target.
type Query string

// The values of Query.
const (
	KeepUnlessReplaced Query = "" // keep it, unless the target contains a "?"
	Keep               Query = "keep"
	Drop               Query = "drop"
)

// AppendLocation appends the address for a request. It is printable ASCII, whatever the
// request contains, and only {request.host} and parameters of the pattern's host change its
// host: a slash after another one where a value begins or ends is removed, because after the
// start "/" it would make the next segment the name of a host. The error is
// [template.ErrTooLong].
func (t *Target) AppendLocation(dst []byte, v *template.Values) ([]byte, error) {
	dst, err := t.origin.Append(dst, v)
	if err != nil {
		return dst, err
	}
	if dst, err = t.path.Append(dst, v); err == template.ErrTooLong {
		return dst, err
	}
	mark := byte('?')
	if t.query != nil {
		before := len(dst)
		if dst, err = t.query.Append(append(dst, mark), v); err != nil {
			return dst, err
		}
		if mark = '&'; len(dst) == before+1 {
			dst, mark = dst[:before], '?'
		}
	}
	if t.keepQuery && v.Query != "" {
		dst = template.AppendURL(append(dst, mark), v.Query)
	}
	return t.fragment.Append(dst, v)
}

// FollowsRequest reports whether the target contains values of the request.
func (t *Target) FollowsRequest() bool {
	for _, part := range []*template.Template{t.origin, t.path, t.query, t.fragment} {
		if part == nil {
			continue
		}
		if _, fixed := part.Text(); !fixed {
			return true
		}
	}
	return false
}

// A Source selects the requests that are redirected.
type Source struct {
	Pattern string // for the routing table
	Prefix  bool   // it ends in "/*" and matches every path below
}

// ParseSource reads [HOST]/PATH or [HOST]/PATH/*.
func ParseSource(text string) (s Source, refused *yamlfile.Refusal) {
	slash := strings.IndexByte(text, '/')
	if slash < 0 {
		return s, yamlfile.Refuse("write a path, as in /old or /old/*", "%s has no path", yamlfile.Quote(text))
	}
	path, prefix := strings.CutSuffix(text[slash:], "/*")
	if i := strings.IndexAny(path, "*?#{} "); i >= 0 {
		return s, refuseInSource(path[i]).At(slash + i)
	}
	if i := strings.Index(path, "/:"); i >= 0 && BeginsName(path[i+2:]) {
		return s, refuseInSource(':').At(slash + i + 1)
	}
	if why := target.CheckPath(path); why != "" {
		return s, yamlfile.Refuse("no request with it reaches a route", "%s: %s", yamlfile.Quote(text), why)
	}
	s = Source{Pattern: text[:slash] + path, Prefix: prefix}
	switch {
	case prefix:
		s.Pattern += "/{" + rest + "...}"
	case strings.HasSuffix(path, "/"):
		s.Pattern += "{$}"
	}
	return s, nil
}

// BeginsName reports whether s begins with the name of a pattern's parameter.
func BeginsName(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return c == '_' || unicode.IsLetter(c)
}

// refuseInSource explains why a character cannot be in the path of a source.
func refuseInSource(c byte) *yamlfile.Refusal {
	hint := fmt.Sprintf("write %%%02X for the character itself", c)
	switch c {
	case '*':
		return yamlfile.Refuse(hint, `a "*" is the last segment of a from, as in /old/*`)
	case '?', '#':
		return yamlfile.Refuse(hint, "a from is a path, without a query and a fragment")
	case ' ':
		return yamlfile.Refuse(hint, "a from contains a blank")
	default:
		return yamlfile.Refuse(hint, "a from has no parameters")
	}
}

// ParseTarget reads the address that requests of a source are redirected to: a
// path or a URL of http or https. It may end in /* if the source does.
func ParseTarget(text string, status int, from Source) (*Target, *yamlfile.Refusal) {
	address, after := text, ""
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		address, after = text[:i], text[i:]
	}
	path, wild := strings.CutSuffix(address, "/*")
	switch {
	case strings.Contains(path, "*"):
		refused := yamlfile.Refuse("write %2A for the character itself", `a "*" is the last segment of a path, as in /new/*`)
		return nil, refused.At(strings.IndexByte(text, '*'))
	case wild && !from.Prefix:
		return nil, yamlfile.Refuse("write a from that ends in /*, or remove it",
			`%s ends in "/*", and its from does not`, yamlfile.Quote(text))
	}
	path, after = literal.Replace(path), literal.Replace(after)
	if wild {
		path += "/{" + rest + "}"
	}
	t, refused := ParseTemplate(path+after, status, KeepUnlessReplaced, template.ParsePattern(from.Pattern))
	if refused != nil {
		return nil, refused.At(0)
	}
	t.To = text
	return t, nil
}

// rest is the name of the parameter that the * of a source matches.
const rest = "rest"

// literal writes a text as a template without values.
var literal = strings.NewReplacer("{", "{{", "}", "}}")

// ParseTemplate reads the address that requests of a pattern are redirected to: a path or a
// URL of http or https, with values of the request.
func ParseTemplate(text string, status int, query Query, p *template.Pattern) (*Target, *yamlfile.Refusal) {
	if yamlfile.Printable(text) != text {
		return nil, yamlfile.Refuse("remove it", "%s contains a control character", yamlfile.Quote(text))
	}
	address, fragment, hasFragment := strings.Cut(text, "#")
	address, ownQuery, hasQuery := strings.Cut(address, "?")
	origin, path, refused := splitOrigin(address)
	if refused != nil {
		return nil, refused
	}
	t := &Target{Status: status, To: text, keepQuery: query == Keep || query == KeepUnlessReplaced && !hasQuery}
	parse := func(part string, place template.Place) (parsed *template.Template) {
		if refused == nil {
			if parsed, refused = template.Parse(part, place, p); refused != nil {
				refused.Offset += max(strings.Index(text, part), 0)
			}
		}
		return parsed
	}
	t.origin, t.path = parse(origin, template.Host), parse(path, template.Path)
	if hasQuery {
		t.query = parse(ownQuery, template.Query)
	}
	if hasFragment {
		fragment = "#" + fragment
	}
	t.fragment = parse(fragment, template.Query)
	if refused != nil {
		return nil, refused
	}
	if _, host, ok := strings.Cut(t.origin.Sample(), "://"); ok {
		if _, _, ok := target.SplitHost(host); !ok { // a host may hold a password, so it is not shown
			return nil, yamlfile.Refuse(example, "the URL has no valid host, which is a name in ASCII or an address")
		}
	}
	if strings.Contains(path, "*") {
		return nil, yamlfile.Refuse("write {name} for a parameter of the pattern, and %2A for the character itself",
			`a "*" in a path`).At(strings.IndexByte(text, '*'))
	}
	if why := target.CheckPath(t.path.Sample()); why != "" {
		return nil, yamlfile.Refuse("clients read such a path in different ways", "%s: %s", yamlfile.Quote(text), why)
	}
	return t, nil
}

const example = "write a path, as in /new, or a URL, as in https://example.com/new"

// splitOrigin splits an address into its origin, a scheme and a host, and its
// path, which begins with a slash. The origin is "" for a path of the same host.
func splitOrigin(address string) (origin, path string, refused *yamlfile.Refusal) {
	if strings.HasPrefix(address, "//") {
		return "", "", yamlfile.Refuse("write https:"+address+", or one slash",
			"%s names another host", yamlfile.Quote(address))
	}
	if strings.HasPrefix(address, "/") {
		return "", address, nil
	}
	scheme, hierarchy, found := strings.Cut(address, "://")
	if !found || !httpsyntax.EqualFold(scheme, "http") && !httpsyntax.EqualFold(scheme, "https") {
		return "", "", yamlfile.Refuse(example, "%s is neither a path nor a URL of http or https", yamlfile.Quote(address))
	}
	host, path, _ := strings.Cut(hierarchy, "/")
	return strings.ToLower(scheme) + "://" + lowerHost(host), "/" + path, nil
}

// lowerHost returns a host in lower case, except for the names of values.
func lowerHost(host string) string {
	b, inside := []byte(host), false
	for i, c := range b {
		switch {
		case c == '{' || c == '}':
			inside = c == '{'
		case !inside:
			b[i] = httpsyntax.Lower(c)
		}
	}
	return string(b)
}
