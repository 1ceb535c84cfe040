package redirects

import (
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key redirect: it redirects the requests of a route.
type Config struct {
	// To is a path, or a URL with the scheme http or https. It may contain values of the
	// request, such as {id}.
	To string

	Status int // 301, 302, 307 or 308

	// Query is QueryKeep or QueryDrop. Empty means QueryDrop if To contains a "?", and
	// QueryKeep otherwise.
	Query string
}

// Values of [Config.Query].
const (
	QueryKeep = string(redirect.Keep) // the query of the request is appended to the address
	QueryDrop = string(redirect.Drop)
)

// Keys returns the keys of a [Config] at a path. at returns where it is kept, and to where the address is kept
// with its position.
func Keys[T any](path string, at func(T) **Config, to func(T) *yamlfile.Scalar) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "to", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = &Config{Status: statuses[""]}
			r.Fields(p, n)
			(*at(p.To)).To = to(p.To).Text
		}},
		{Path: path + ".to", Doc: "the address of a redirect",
			Required: "write the address, as in: redirect: {to: /new}",
			Read:     yamlfile.One(parseTo, to)},
		{Path: path + ".status", Doc: "the status of a redirect",
			Read: yamlfile.One(parseStatus, func(t T) *int { return &(*at(t)).Status })},
		{Path: path + ".query", Doc: "whether the query of the request is kept",
			Read: yamlfile.One(yamlfile.Word([]string{QueryKeep, QueryDrop}),
				func(t T) *string { return &(*at(t)).Query })},
	}
}

// parseTo reads the address of a redirect, which is checked with the pattern of its route.
func parseTo(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path or URL with {parameters}"})
	return scalar.Written(s)
}

// statuses are the statuses of redirects by their text in a file.
var statuses = map[string]int{"301": 301, "302": 302, "": 307, "307": 307, "308": 308}

func parseStatus(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"301", "302", "307", "308"}})
	status, known := statuses[s.Text]
	if !known || s.Text == "" {
		return 0, refuseStatus(s)
	}
	return status, nil
}

func refuseStatus(s yamlfile.Scalar) *yamlfile.Refusal {
	return yamlfile.Refuse("it is 301, 302, 307 or 308", "%s is not a status for redirects", yamlfile.Quote(s.Text))
}

// Target returns the address of the redirect for the requests of a pattern.
func (c *Config) Target(p *template.Pattern) (*redirect.Target, *yamlfile.Refusal) {
	return redirect.ParseTemplate(c.To, c.Status, redirect.Query(c.Query), p)
}
