package teapot

import (
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key teapot: it refuses the requests with a method.
type Config struct{ Method string }

// Keys returns the keys of a [Config] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) **Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = new(Config)
			r.Fields(p, n)
		}},
		{Path: path + ".method", Doc: "a method that is refused", Required: "name it, as in method: BREW",
			Read: yamlfile.One(yamlfile.Text, func(t T) *string { return &(*at(t)).Method })},
	}
}
