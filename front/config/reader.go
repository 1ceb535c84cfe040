package config

import (
	"os"

	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// reader reads a file into a Config. It also keeps the data for checks that involve
// several keys.
type reader struct {
	*fileReader
	config *Config

	groupKeysOf, defaultKeysOf []key // the schemas of scopes

	constraints  router.Constraints
	upstreams    map[string]yamlfile.Pos // by name; nil if there is none yet
	badUpstreams bool                    // upstreams is not a mapping, so that it is unknown which there are
	routes       []*routeDraft
	routeLists   []func()                // read the lists of routes of a file
	outermost    *scope                  // of all routes
	scopes       []*routeDraft           // the values of scopes
	parts        []*patternPart          // of all groups
	groups       map[string]yamlfile.Pos // with limits that count, by name
	include      []yamlfile.Scalar       // the values of include
	included     []*yamlfile.File
	lists        []*yamlfile.File            // of servers
	pages        map[string]*errorpages.File // that were read, by name
	redirectsKey yamlfile.Scalar             // the value of redirects
	redirects    *redirects.File             // nil if there is none
	userFiles    []*userFile
	adminToken   namedfile.Secret
	tls          secure.Draft
	https        httpsredirect.Draft
}

// filling is the destination of the part of a file that is being read.
type filling struct {
	*reader
	upstream *upstreams.Draft // nil outside upstreams
	route    *routeDraft      // nil outside routes
	outer    *scope           // around the route or the group
	group    *groupDraft      // nil outside groups
}

type (
	key        = yamlfile.Key[filling]
	place      = yamlfile.Place[filling]
	fileReader = yamlfile.Reader[filling]
	readFunc   = yamlfile.ReadFunc[filling]
)

// readNamed reads a regular file that is named at a position of another one, and adds it to
// the Sources. If it cannot be read, readNamed reports a mistake, in which kind comes before
// the name, and returns false.
func (r *reader) readNamed(by *yamlfile.File, at yamlfile.Pos, kind, name string) (src []byte, ok bool) {
	r.noteState(name)
	src, err := namedfile.Read(name)
	if err != nil {
		by.Mistakef(at, namedfile.Hint(err), "%s %s: %s", kind, yamlfile.Quote(name), namedfile.Cause(err))
		return nil, false
	}
	r.config.Sources = append(r.config.Sources, name)
	return src, true
}

// noteState adds the state of a file that is about to be read to the States.
func (r *reader) noteState(name string) {
	if info, err := os.Stat(name); err == nil {
		r.config.States[name] = info
	}
}

// has reports whether the file has a value for a key.
func (r *reader) has(path string) bool { return len(r.Positions[path]) > 0 }

// A logFieldDraft is a field that a route adds to its events.
type logFieldDraft struct{ key, value yamlfile.Scalar }

// one and some return functions that read a field of the Config: a value, or a list of at least one element.
func one[T any](parse func(yamlfile.Scalar) (T, *yamlfile.Refusal), field func(*Config) *T) readFunc {
	return yamlfile.One(parse, func(f filling) *T { return field(f.config) })
}

func some[T comparable](parse func(yamlfile.Scalar) (T, *yamlfile.Refusal), field func(*Config) *[]T) readFunc {
	return yamlfile.Some(parse, func(f filling) *[]T { return field(f.config) })
}

// defineName records the name at p, and reports whether it is new. It adds a mistake if another file has defined it.
func defineName(r *fileReader, p place) bool {
	path := p.Path[:len(p.Path)-1] + p.Key.Text
	if before := r.Positions[path]; before != nil {
		r.Mistakef(p.Key.Pos, "keep one of the two", "%s is given twice, first on %s", yamlfile.Quote(p.Key.Text),
			before[0].LineFrom(p.Key.Pos))
		return false
	}
	r.Positions[path] = []yamlfile.Pos{p.Key.Pos}
	return true
}
