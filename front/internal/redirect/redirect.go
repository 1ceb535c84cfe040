// Package redirect reads the two addresses of a redirect, and builds the
// Location of its responses.
package redirect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Target is the address that requests are redirected to. It does not change,
// so goroutines may share it.
type Target struct {
	Status int
	To     string // as configured

	// End is the query and the fragment of the target itself, with which every
	// location ends.
	End string

	start     string // of every location
	slashes   int    // number of slashes in a path before the suffix that is appended to start; 0 appends none
	keepQuery bool   // the request's query is appended
}

// AppendsSuffix reports whether the target ends in /*, and so takes the end of
// the request's path.
func (t *Target) AppendsSuffix() bool { return t.slashes > 0 }

// Location returns the address for a request with a path and a query. It is
// printable ASCII, whatever the request contains. Slashes at the beginning of the
// suffix are removed: after the start "/" they would make the next segment the
// name of a host.
func (t *Target) Location(path, query string) string {
	b := make([]byte, 0, len(t.start)+len(path)+1+len(query)+len(t.End))
	b = append(b, t.start...)
	if t.slashes > 0 {
		b = appendEscaped(b, strings.TrimLeft(afterSlashes(path, t.slashes), "/"))
	}
	if t.keepQuery && query != "" {
		b = appendEscaped(append(b, '?'), query)
	}
	return string(append(b, t.End...))
}

// afterSlashes returns the part of a path after its n-th slash.
func afterSlashes(path string, n int) string {
	for ; n > 0; n-- {
		path = path[strings.IndexByte(path, '/')+1:]
	}
	return path
}

// Escape escapes the bytes of a part of a URL that a URL cannot contain. It keeps "%",
// because s is already escaped.
func Escape(s string) string { return string(appendEscaped(nil, s)) }

// appendEscaped appends a part of a URL and escapes the bytes that a URL cannot
// contain. It keeps "%", because s is already escaped.
func appendEscaped(b []byte, s string) []byte {
	const upper = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b = append(b, '%', upper[c>>4], upper[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}

// A Source selects the requests that are redirected.
type Source struct {
	Pattern string // for the routing table
	Prefix  bool   // it ends in "/*" and matches every path below
	slashes int    // for a Prefix: the number of slashes in a path before the part that "*" matches
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
	s = Source{Pattern: text[:slash] + path, Prefix: prefix, slashes: strings.Count(path, "/") + 1}
	switch {
	case prefix:
		s.Pattern += "/{rest...}"
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
// path or a URL of http or https.
func ParseTarget(text string, status int, from Source) (*Target, *yamlfile.Refusal) {
	if yamlfile.Printable(text) != text {
		return nil, yamlfile.Refuse("remove it", "%s contains a control character", yamlfile.Quote(text))
	}
	address, fragment, hasFragment := strings.Cut(text, "#")
	address, query, hasQuery := strings.Cut(address, "?")
	origin, path, refused := splitOrigin(address)
	if refused != nil {
		return nil, refused
	}
	path, wild := strings.CutSuffix(path, "/*")
	switch why := target.CheckPath(path); {
	case strings.Contains(path, "*"):
		refused = yamlfile.Refuse("write %2A for the character itself", `a "*" is the last segment of a path, as in /new/*`)
		return nil, refused.At(strings.IndexByte(text, '*'))
	case wild && !from.Prefix:
		return nil, yamlfile.Refuse("write a from that ends in /*, or remove it",
			`%s ends in "/*", and its from does not`, yamlfile.Quote(text))
	case why != "":
		return nil, yamlfile.Refuse("clients read such a path in different ways", "%s: %s", yamlfile.Quote(text), why)
	}
	t := &Target{Status: status, To: text, keepQuery: !hasQuery}
	if wild {
		path += "/"
		t.slashes = from.slashes
	}
	t.start = string(appendEscaped([]byte(origin), path))
	if query != "" {
		t.End = string(appendEscaped([]byte("?"), query))
	}
	if hasFragment {
		t.End += string(appendEscaped([]byte("#"), fragment))
	}
	return t, nil
}

// splitOrigin splits an address into its origin, a scheme and a host, and its
// path, which begins with a slash. The origin is "" for a path of the same host.
func splitOrigin(address string) (origin, path string, refused *yamlfile.Refusal) {
	const example = "write a path, as in /new, or a URL, as in https://example.com/new"
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
	if _, _, ok := target.SplitHost(host); !ok { // a host may hold a password, so it is not shown
		return "", "", yamlfile.Refuse(example, "the URL has no valid host, which is a name in ASCII or an address")
	}
	return strings.ToLower(scheme + "://" + host), "/" + path, nil
}
