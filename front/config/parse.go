package config

import (
	"io/fs"
	"slices"

	"github.com/weirhq/weir/internal/yamlfile"
)

// Parse reads a configuration from src. The name file is used in messages, and its folder is
// the base of relative paths in it. lookupEnv, usually os.LookupEnv, resolves ${NAME} in
// values; nil means that there are no variables.
//
// Parse resolves no host names and binds no addresses. It reads only the files that the configuration names:
// included files, lists of servers, redirects, users, pages, certificates and the secrets of cookies. It also checks
// the folders that it names: the roots of files, the folders of the log, and the storage of ACME. It looks up the
// command of the hook for dns-01.
//
// The error is of type [Mistakes] and contains every mistake in all files. In a
// file that is not YAML, it contains only the first one.
func Parse(file string, src []byte, lookupEnv func(string) (string, bool)) (*Config, error) {
	r, root := newReader(file, src, lookupEnv)
	switch c := r.config; {
	case root != nil:
		r.readFile(root)
		r.readIncluded(file)
		r.checkTLS(c)
		r.checkAddresses(c)
		r.readRedirects(file)
		r.checkRoutes()
		r.checkSecure(c)
	case r.Err() == nil:
		r.Mistakef(yamlfile.Pos{Line: 1, Col: 1}, `it needs at least "routes"`, "the file is empty")
	}
	if found := r.collect((*yamlfile.File).Mistakes); found != nil {
		return nil, found
	}
	r.config.Warnings = r.collect((*yamlfile.File).Warnings)
	return r.config, nil
}

// newReader returns a reader of a file, and the root of the file, which is nil if
// the file is empty or not YAML.
func newReader(file string, src []byte, lookupEnv func(string) (string, bool)) (*reader, *yamlfile.Node) {
	if lookupEnv == nil {
		lookupEnv = func(string) (string, bool) { return "", false }
	}
	f, root := yamlfile.Read(file, "a configuration", src, repeatHint)
	r := &reader{
		fileReader: &fileReader{
			File:      f,
			Schema:    schema,
			Foreign:   foreignHint,
			Expand:    environment(lookupEnv),
			HasOff:    true,
			Positions: map[string][]yamlfile.Pos{},
		},
		config:    Default(),
		outermost: newScope(),

		groupKeysOf: groupSchema(), defaultKeysOf: defaultsSchema(),
	}
	r.config.Sources, r.config.States = []string{file}, map[string]fs.FileInfo{}
	return r, root
}

// collect returns the mistakes or the warnings in the configuration, then those in the included files, in
// lists of servers, in files of users and in the file of redirects.
func (r *reader) collect(of func(*yamlfile.File) []yamlfile.Mistake) (all Mistakes) {
	files := slices.Concat([]*yamlfile.File{r.File}, r.included, r.lists)
	for _, f := range r.userFiles {
		files = append(files, f.File)
	}
	if r.redirects != nil {
		files = append(files, r.redirects.File)
	}
	for _, f := range files {
		all = append(all, asMistakes(of(f))...)
	}
	return all
}
