package front

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/proxy"
	"github.com/weirhq/weir/router"
)

// A redirect is the response to requests that are sent to another address.
type redirect struct {
	status int
	to     string // as configured
	start  string // of Location: up to its query, or up to the rest of the path
	rest   int    // slashes of a request's path before the rest that follows start; 0 for none
	query  bool   // the request's query follows
	end    string // of Location: its own query and fragment
}

// location returns the address for a request with a path and a query. It is
// printable ASCII, whatever the request has. The rest of a path loses the slashes
// that it begins with: after the start "/" they would make the next segment the
// name of a host.
func (r *redirect) location(path, query string) string {
	b := make([]byte, 0, len(r.start)+len(path)+1+len(query)+len(r.end))
	b = append(b, r.start...)
	if r.rest > 0 {
		b = appendEscaped(b, strings.TrimLeft(afterSlashes(path, r.rest), "/"))
	}
	if r.query && query != "" {
		b = appendEscaped(append(b, '?'), query)
	}
	return string(append(b, r.end...))
}

// afterSlashes returns the part of a path after its n-th slash.
func afterSlashes(path string, n int) string {
	for ; n > 0; n-- {
		path = path[strings.IndexByte(path, '/')+1:]
	}
	return path
}

// appendEscaped appends a part of a URL with the bytes escaped that cannot be in
// one. A "%" stays, because s is escaped already.
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

// redirectRoute is the route in the metrics of all redirects of a single path,
// and of the prefixes beyond the first namedRedirects. A file has thousands of
// lines, and each route takes several time series.
const (
	redirectRoute  = "redirects"
	namedRedirects = 100
)

// redirects returns the entries of the routing table for redirects.
func (d *Door) redirects(lines []RedirectConfig) ([]router.Entry[*route], error) {
	entries := make([]router.Entry[*route], len(lines))
	named := 0
	for i, line := range lines {
		from, refused := parseRedirectFrom(line.From)
		if refused != nil {
			return nil, fmt.Errorf("redirect %q: %s", line.From, refused.What)
		}
		target, refused := parseRedirectTo(line.To, line.Status, from)
		if refused != nil {
			return nil, fmt.Errorf("redirect %q: %s", line.From, refused.What)
		}
		label := redirectRoute
		if from.prefix && named < namedRedirects {
			label = line.From
			named++
		}
		entries[i] = router.Entry[*route]{
			Pattern: from.pattern,
			Value:   &route{pattern: line.From, redirect: target, counts: d.metrics.route(label), events: d.events},
		}
	}
	return entries, nil
}

// redirect responds with the redirect that a request has reached.
func (d *Door) redirect(x *exchange) {
	r := x.route.redirect
	d.respond(x, r.status, "", proxy.Field{Name: "Location", Value: r.location(x.path, x.query)})
}

// A redirectFrom says which requests are redirected.
type redirectFrom struct {
	pattern string // for the routing table
	prefix  bool   // it takes every path below
	slashes int    // of a request's path before the part that a prefix leaves open
}

// parseRedirectFrom reads [HOST]/PATH or [HOST]/PATH/*.
func parseRedirectFrom(text string) (f redirectFrom, refused *yamlfile.Refusal) {
	slash := strings.IndexByte(text, '/')
	if slash < 0 {
		return f, yamlfile.Refuse("write a path, as in /old or /old/*", "%s has no path", yamlfile.Quote(text))
	}
	path, prefix := strings.CutSuffix(text[slash:], "/*")
	if i := strings.IndexAny(path, "*?#{} "); i >= 0 {
		return f, refuseInFrom(path[i]).At(slash + i)
	}
	if i := strings.Index(path, "/:"); i >= 0 && beginsName(path[i+2:]) {
		return f, refuseInFrom(':').At(slash + i + 1)
	}
	if why := checkPath(path); why != "" {
		return f, yamlfile.Refuse("no request with it reaches a route", "%s: %s", yamlfile.Quote(text), why)
	}
	f = redirectFrom{pattern: text[:slash] + path, prefix: prefix, slashes: strings.Count(path, "/") + 1}
	switch {
	case prefix:
		f.pattern += "/{rest...}"
	case strings.HasSuffix(path, "/"):
		f.pattern += "{$}"
	}
	return f, nil
}

// refuseInFrom returns why a character cannot be in the path of a from.
func refuseInFrom(c byte) *yamlfile.Refusal {
	hint := fmt.Sprintf("write %%%02X for the character itself", c)
	switch c {
	case '*':
		return yamlfile.Refuse(hint, `a "*" is the last segment of a from, as in /old/*`)
	case '?', '#':
		return yamlfile.Refuse(hint, "a from is a path, without a query and a fragment")
	case ' ':
		return yamlfile.Refuse(hint, "a from holds a blank")
	default:
		return yamlfile.Refuse(hint, "a from has no parameters")
	}
}

// parseRedirectTo reads the address that from is redirected to: a path or a URL
// of http or https.
func parseRedirectTo(text string, status int, from redirectFrom) (*redirect, *yamlfile.Refusal) {
	if yamlfile.Printable(text) != text {
		return nil, yamlfile.Refuse("remove it", "%s holds a control character", yamlfile.Quote(text))
	}
	address, fragment, hasFragment := strings.Cut(text, "#")
	address, query, hasQuery := strings.Cut(address, "?")
	origin, path, refused := splitOrigin(address)
	if refused != nil {
		return nil, refused
	}
	path, wild := strings.CutSuffix(path, "/*")
	switch why := checkPath(path); {
	case strings.Contains(path, "*"):
		refused = yamlfile.Refuse("write %2A for the character itself", `a "*" is the last segment of a path, as in /new/*`)
		return nil, refused.At(strings.IndexByte(text, '*'))
	case wild && !from.prefix:
		return nil, yamlfile.Refuse("write a from that ends in /*, or remove it",
			`%s ends in "/*", and its from does not`, yamlfile.Quote(text))
	case why != "":
		return nil, yamlfile.Refuse("clients read such a path in different ways", "%s: %s", yamlfile.Quote(text), why)
	}
	r := &redirect{status: status, to: text, query: !hasQuery}
	if wild {
		path += "/"
		r.rest = from.slashes
	}
	r.start = string(appendEscaped([]byte(origin), path))
	if query != "" {
		r.end = string(appendEscaped([]byte("?"), query))
	}
	if hasFragment {
		r.end += string(appendEscaped([]byte("#"), fragment))
	}
	return r, nil
}

// splitOrigin splits an address into its scheme and host, which are "" for a
// path of the same host, and its path, which begins with a slash.
func splitOrigin(address string) (origin, path string, refused *yamlfile.Refusal) {
	const example = "write a path, as in /new, or a URL, as in https://example.com/new"
	if strings.HasPrefix(address, "//") {
		return "", "", yamlfile.Refuse("write https:"+address+", or one slash",
			"%s names another host", yamlfile.Quote(address))
	}
	if strings.HasPrefix(address, "/") {
		return "", address, nil
	}
	scheme, rest, found := strings.Cut(address, "://")
	if !found || !httpsyntax.EqualFold(scheme, "http") && !httpsyntax.EqualFold(scheme, "https") {
		return "", "", yamlfile.Refuse(example, "%s is neither a path nor a URL of http or https", yamlfile.Quote(address))
	}
	host, path, _ := strings.Cut(rest, "/")
	if _, _, ok := splitHost(host); !ok { // a host may hold a password, so it is not shown
		return "", "", yamlfile.Refuse(example, "the URL has no valid host, which is a name in ASCII or an address")
	}
	return strings.ToLower(scheme + "://" + host), "/" + path, nil
}
