package forwardauth

import (
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key forward_auth: it asks a service whether a request is admitted: with GET, the request's header
// fields, X-Forwarded-Method and X-Forwarded-Uri. A 2xx response admits the request. The
// client gets any other response.
type Config struct {
	To   string // the upstream of the service
	Path string // of the requests to the service, escaped, perhaps with a query

	// Timeout is how long the service may take for a complete response. More than zero;
	// default 10s.
	Timeout time.Duration

	// Send are the names of the fields that the service gets, besides the fields
	// of all requests, such as X-Forwarded-For. Empty means all fields.
	Send []string

	// Copy are the names of the fields of the service's response that the request gets. The
	// client's fields of these names are removed. Set-Cookie is added to the response instead.
	Copy []string
}

// Keys returns the keys of a [Config] at a path. at returns where it is kept, and to where the name of the
// upstream is kept with its position.
func Keys[T any](path string, at func(T) **Config, to func(T) *yamlfile.Scalar) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = &Config{Timeout: 10 * time.Second}
			r.Fields(p, n)
			(*at(p.To)).To = to(p.To).Text
		}},
		{Path: path + ".to", Doc: "the upstream of the service that decides about requests", Ambiguous: true,
			Required: "name the upstream of the service, as in: forward_auth: {to: auth, path: /verify}",
			Read:     yamlfile.One(scalar.Upstream, to)},
		{Path: path + ".path", Doc: "the path of the requests to that service",
			Required: "name the path of the service, as in: path: /verify",
			Read:     yamlfile.One(parseAuthPath, func(t T) *string { return &(*at(t)).Path })},
		{Path: path + ".timeout", Doc: "how long that service may take", Ambiguous: true,
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &(*at(t)).Timeout })},
		{Path: path + ".send", Doc: "request fields that the service gets",
			Read: yamlfile.Some(scalar.HeaderName, func(t T) *[]string { return &(*at(t)).Send })},
		{Path: path + ".copy", Doc: "fields of the service's response that the request gets",
			Read: yamlfile.Some(scalar.SentHeader, func(t T) *[]string { return &(*at(t)).Copy })},
	}
}

// parseAuthPath reads the target of the requests to a service.
func parseAuthPath(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path of a URL", Pattern: "/[^ #]*"})
	path, _, _ := strings.Cut(s.Text, "?")
	switch {
	case !strings.HasPrefix(path, "/") || strings.ContainsAny(s.Text, " #") || !httpsyntax.IsPlain(s.Text):
		return "", yamlfile.Refuse("write a path, as in /verify", "%s is not a path", yamlfile.Quote(s.Text))
	case target.CheckPath(path) != "":
		return "", yamlfile.Refuse("write it without that", "%s: %s", yamlfile.Quote(s.Text), target.CheckPath(path))
	}
	return s.Text, nil
}
