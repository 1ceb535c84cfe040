package config

import (
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// reader reads a file into a Config, and keeps what the checks need that look
// at several keys at once.
type reader struct {
	*fileReader
	config       *Config
	constraints  router.Constraints
	upstreams    map[string]yamlfile.Pos // by name; nil while there is none
	routes       []*routeDraft
	redirectsKey yamlfile.Scalar // the value of redirects
	redirects    *redirectFile   // nil without one
}

// filling is what a part of a file is read into.
type filling struct {
	*reader
	upstream *Upstream   // nil but below upstreams
	route    *routeDraft // nil but below routes
}

type (
	key        = yamlfile.Key[filling]
	place      = yamlfile.Place[filling]
	fileReader = yamlfile.Reader[filling]
)

// has tells whether the file has a value for a key.
func (r *reader) has(path string) bool { return len(r.Stood[path]) > 0 }

// routeDraft is a route and where its parts stand, as far as it has them.
type routeDraft struct {
	Route
	match, to yamlfile.Scalar
}

// A redirectFile is a file of redirects that is being read.
type redirectFile struct {
	*yamlfile.File
	lines []*redirectLine // those without a mistake
}

// A redirectLine is a line of a file of redirects.
type redirectLine struct {
	Redirect
	from, to yamlfile.Scalar
	source   redirect.Source
	target   *redirect.Target
}
