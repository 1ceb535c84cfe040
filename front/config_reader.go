package front

import (
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
	upstream *UpstreamConfig // nil but below upstreams
	route    *routeDraft     // nil but below routes
}

type (
	key        = yamlfile.Key[filling]
	place      = yamlfile.Place[filling]
	fileReader = yamlfile.Reader[filling]
)

// newReader returns a reader of a file, and the file's root, which is nil when
// there is nothing to read.
func newReader(file string, src []byte, lookupEnv func(string) (string, bool)) (*reader, *yamlfile.Node) {
	if lookupEnv == nil {
		lookupEnv = func(string) (string, bool) { return "", false }
	}
	f, root := yamlfile.Read(file, "a configuration", src)
	return &reader{
		fileReader: &fileReader{
			File:   f,
			Schema: schema,
			Expand: environment(lookupEnv),
			Stood:  map[string][]yamlfile.Pos{},
		},
		config: DefaultConfig(),
	}, root
}

// has tells whether the file has a value for a key.
func (r *reader) has(path string) bool { return len(r.Stood[path]) > 0 }

// err returns the mistakes in the file, and then those in the file of redirects.
func (r *reader) err() error {
	files := []*yamlfile.File{r.File}
	if r.redirects != nil {
		files = append(files, r.redirects.File)
	}
	var all Mistakes
	for _, f := range files {
		for _, m := range f.Mistakes() {
			all = append(all, Mistake(m))
		}
	}
	if all == nil {
		return nil
	}
	return all
}
