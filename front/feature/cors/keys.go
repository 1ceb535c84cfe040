package cors

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key cors: it lets pages of other origins read the responses of a route, as the Fetch standard
// defines it.
type Config struct {
	// Origins are the origins of the pages: scheme://host, with a port if it is not the
	// default one, scheme://*.domain for all hosts below a domain, "null", or only "*" for
	// all. At least one. "*" and "null" exclude Credentials.
	Origins []string

	AllowMethods  []string      // that a page may use. Default GET, HEAD and POST
	AllowHeaders  []string      // request fields that a page may set; only "*" for all. Default none
	ExposeHeaders []string      // response fields that a page may read. Default none
	Credentials   bool          // a page may send cookies
	MaxAge        time.Duration // for which a browser keeps the response to a preflight; 0 is its default
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) **Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "origins", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			c := &Config{AllowMethods: []string{"GET", "HEAD", "POST"}}
			*at(p.To) = c
			read(r, p, n, c)
		}},
		{Path: path + ".origins", Doc: "the origins whose pages may read responses",
			Read:     yamlfile.Some(parseOrigin, func(t T) *[]string { return &(*at(t)).Origins }),
			Required: "list the origins of the pages, as in: origins: [https://app.example.com]"},
		{Path: path + ".allow_methods", Doc: "the methods that a page may use",
			Read: yamlfile.Some(parseMethod, func(t T) *[]string { return &(*at(t)).AllowMethods })},
		{Path: path + ".allow_headers", Doc: "the request fields that a page may set",
			Read: yamlfile.Some(parseAllowedHeader, func(t T) *[]string { return &(*at(t)).AllowHeaders })},
		{Path: path + ".expose_headers", Doc: "the response fields that a page may read",
			Read: yamlfile.Some(scalar.HeaderName, func(t T) *[]string { return &(*at(t)).ExposeHeaders })},
		{Path: path + ".credentials", Doc: "let pages send cookies and passwords",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &(*at(t)).Credentials })},
		{Path: path + ".max_age", Doc: "how long a browser keeps the response to a preflight",
			Read: yamlfile.One(parseMaxAge, func(t T) *time.Duration { return &(*at(t)).MaxAge })},
	}
}

// read reads a mapping.
func read[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, c *Config) {
	origins, methods, headers := p.Path+".origins", p.Path+".allow_methods", p.Path+".allow_headers"
	for _, path := range []string{origins, methods, headers} {
		delete(r.Positions, path) // of another route
	}
	r.Fields(p, n)
	for i, at := range r.Positions[methods] {
		scalar.WarnOfMethod(r.File, at, c.AllowMethods[i])
	}
	for i, origin := range c.Origins {
		at := r.Positions[origins][i]
		switch {
		case (origin == "*" || origin == "null") && c.Credentials:
			r.Mistakef(at, "list the origins of your own pages",
				"with credentials, %s would give the pages of all sites the data of your users", yamlfile.Quote(origin))
		case origin == "*" && len(c.Origins) > 1:
			r.Mistakef(at, "remove it, or the others", `"*" includes the other origins`)
		}
	}
	if i := slices.Index(c.AllowHeaders, "*"); i >= 0 && len(c.AllowHeaders) > 1 {
		r.Mistakef(r.Positions[headers][i], "remove it, or the others", `"*" includes the other headers`)
	}
}

// parseMaxAge reads a duration of whole seconds, as Access-Control-Max-Age has them.
func parseMaxAge(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	return scalar.WholeSeconds(s, time.Second, "write whole seconds, as in 1h", "valid in Access-Control-Max-Age")
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// parseOrigin reads the origin of pages, in the form in which browsers send it.
func parseOrigin(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "origin", Words: []string{"*", "null"}, Pattern: "[-+.a-z0-9]+://[^/ A-Z]+"})
	const example = `write the origin of a page, as in https://app.example.com or "https://*.example.com"`
	if s.Text == "*" || s.Text == "null" {
		return s.Text, nil
	}
	scheme, rest, ok := strings.Cut(s.Text, "://")
	host := strings.TrimPrefix(rest, "*.")
	u, err := url.Parse(s.Text[:len(s.Text)-len(rest)] + host)
	switch {
	case !ok || err != nil || u.Host != strings.TrimSuffix(host, "/") || !scalar.IsHost(u.Hostname()) ||
		u.Port() == "" && strings.HasSuffix(u.Host, ":"):
		return "", yamlfile.Refuse(example, "%s is not an origin", yamlfile.Quote(s.Text))
	case s.Text != strings.ToLower(s.Text) || strings.HasSuffix(rest, "/") ||
		defaultPorts[scheme] != "" && strings.HasSuffix(rest, defaultPorts[scheme]):
		right := strings.TrimSuffix(strings.ToLower(s.Text), "/")
		right = strings.TrimSuffix(right, defaultPorts[strings.ToLower(scheme)])
		return "", yamlfile.Refuse(yamlfile.DidYouMean(right), "browsers send %s in another form", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

func parseMethod(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "method", Pattern: "[^a-z ]+"})
	upper := strings.ToUpper(s.Text)
	switch {
	case !httpsyntax.IsToken(s.Text) || s.Text == "*":
		return "", yamlfile.Refuse("list the methods, as in [GET, PUT]", "%s is not a method", yamlfile.Quote(s.Text))
	case s.Text != upper:
		return "", yamlfile.Refuse(yamlfile.DidYouMean(upper), "%s is not a method", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}

// parseAllowedHeader reads the name of a request field, or "*".
func parseAllowedHeader(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"*"}})
	if s.Text == "*" {
		return s.Text, nil
	}
	return scalar.HeaderName(s)
}
