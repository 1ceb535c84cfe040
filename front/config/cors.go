package config

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// corsKeys are the keys of [CORS].
var corsKeys = []key{
	{Path: "routes.*.cors", Read: readCORS},
	{Path: "routes.*.cors.origins",
		Read:     yamlfile.Some(parseOrigin, func(f filling) *[]string { return &f.route.CORS.Origins }),
		Required: "list the origins of the pages, as in: origins: [https://app.example.com]"},
	{Path: "routes.*.cors.methods",
		Read: yamlfile.Some(parseMethod, func(f filling) *[]string { return &f.route.CORS.Methods })},
	{Path: "routes.*.cors.headers", Ambiguous: true,
		Read: yamlfile.Many(parseAllowedHeader, func(f filling) *[]string { return &f.route.CORS.Headers })},
	{Path: "routes.*.cors.expose",
		Read: yamlfile.Many(parseHeaderName, func(f filling) *[]string { return &f.route.CORS.Expose })},
	{Path: "routes.*.cors.credentials",
		Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.route.CORS.Credentials })},
	{Path: "routes.*.cors.max_age",
		Read: yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.route.CORS.MaxAge })},
}

func readCORS(r *fileReader, p place, n *yamlfile.Node) {
	c := &CORS{Methods: []string{"GET", "HEAD", "POST"}}
	p.To.route.CORS = c
	origins, methods, headers := p.Path+".origins", p.Path+".methods", p.Path+".headers"
	for _, path := range []string{origins, methods, headers} {
		delete(r.Positions, path) // of another route
	}
	r.Fields(p, n)
	for i, at := range r.Positions[methods] {
		warnOfMethod(r.File, at, c.Methods[i])
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
	if i := slices.Index(c.Headers, "*"); i >= 0 && len(c.Headers) > 1 {
		r.Mistakef(r.Positions[headers][i], "remove it, or the others", `"*" includes the other headers`)
	}
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// parseOrigin reads the origin of pages, in the form in which browsers send it.
func parseOrigin(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	const example = `write the origin of a page, as in https://app.example.com or "https://*.example.com"`
	if s.Text == "*" || s.Text == "null" {
		return s.Text, nil
	}
	scheme, rest, ok := strings.Cut(s.Text, "://")
	host := strings.TrimPrefix(rest, "*.")
	u, err := url.Parse(s.Text[:len(s.Text)-len(rest)] + host)
	switch {
	case !ok || err != nil || u.Host != strings.TrimSuffix(host, "/") || !isHost(u.Hostname()) ||
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
	if s.Text == "*" {
		return s.Text, nil
	}
	return parseHeaderName(s)
}

func parseHeaderName(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if !httpsyntax.IsToken(s.Text) || s.Text == "*" {
		return "", yamlfile.Refuse("write a name, as in X-Request-Id", "%s is not the name of a header field",
			yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}
