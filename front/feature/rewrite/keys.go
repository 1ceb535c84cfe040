package rewrite

import (
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the keys strip_prefix, add_prefix and rewrite. A route has prefixes or a To. Only
// forwarded requests are changed.
type Config struct {
	// StripPrefix removes a prefix of the path, with which the pattern of the route begins, and
	// AddPrefix then adds one.
	StripPrefix, AddPrefix string

	// To replaces the path, and the query if it contains a "?". It may contain values of the
	// request.
	To string
}

// A Draft is a [Config] with the positions of its texts, until the pattern of its route is known.
type Draft struct{ strip, add, to yamlfile.Scalar }

// Keys returns the keys of a [Config], which are keys of a route at a path. at returns where they are kept.
func Keys[T any](route string, at func(T) *Draft) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: route + ".strip_prefix", Doc: "a prefix that is removed from the path",
			Read: yamlfile.One(parsePrefix, func(t T) *yamlfile.Scalar { return &at(t).strip })},
		{Path: route + ".add_prefix", Doc: "a prefix that is added to the path",
			Read: yamlfile.One(parsePrefix, func(t T) *yamlfile.Scalar { return &at(t).add })},
		{Path: route + ".rewrite", Doc: "a new path of the request, perhaps with a query",
			Read: yamlfile.One(parsePath, func(t T) *yamlfile.Scalar { return &at(t).to })},
	}
}

// parsePrefix reads the start of a path, which has no parameters.
func parsePrefix(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path of a URL"})
	return scalar.Written(s)
}

// parsePath reads a path, which is checked with the pattern of its route.
func parsePath(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path of a URL with {parameters}"})
	return scalar.Written(s)
}

// Check returns the configuration for the requests of a pattern, and reports its mistakes.
func (d *Draft) Check(f *yamlfile.File, p *template.Pattern) Config {
	c := Config{StripPrefix: d.strip.Text, AddPrefix: d.add.Text, To: d.to.Text}
	_, refused := parse(c, p)
	for i, value := range []yamlfile.Scalar{d.strip, d.add, d.to} {
		if refused[i] != nil {
			f.Refuse(value, refused[i])
		}
	}
	return c
}
