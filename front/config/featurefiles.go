package config

import (
	"slices"

	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A userFile is a file of users in the format of htpasswd.
type userFile struct {
	*yamlfile.File
	users []basicauth.User
}

// userFile returns the users of a file, which it reads only once.
func (r *reader) userFile(by *yamlfile.File, path yamlfile.Scalar) []basicauth.User {
	name := namedfile.Resolve(by.Name(), path.Text)
	if i := slices.IndexFunc(r.userFiles, func(f *userFile) bool { return f.Name() == name }); i >= 0 {
		return r.userFiles[i].users
	}
	src, ok := r.readNamed(by, path.Pos, "the users", name)
	if !ok {
		return nil
	}
	f := new(userFile)
	f.File, f.users = basicauth.ParseUsers(name, src)
	r.userFiles = append(r.userFiles, f)
	if f.users == nil && len(f.Mistakes()) == 0 {
		by.Mistakef(path.Pos, "add a line NAME:HASH for each user", "the file %s has no user", yamlfile.Quote(name))
	}
	return f.users
}

// pageFile returns a file of a page, which it reads only once, or nil if it has reported a mistake.
func (r *reader) pageFile(by *yamlfile.File, path yamlfile.Scalar) *errorpages.File {
	name := namedfile.Resolve(by.Name(), path.Text)
	if file := r.pages[name]; file != nil {
		return file
	}
	kind, ok := errorpages.CheckFile(by, path, name)
	if !ok {
		return nil
	}
	src, ok := r.readNamed(by, path.Pos, "the page", name)
	if !ok {
		return nil
	}
	if r.pages == nil {
		r.pages = map[string]*errorpages.File{}
	}
	r.pages[name] = &errorpages.File{Type: kind, Body: string(src)}
	return r.pages[name]
}

// readRedirects reads the file of redirects that the configuration names. The name of the
// configuration is file.
func (r *reader) readRedirects(file string) {
	if r.redirectsKey.Text == "" {
		return
	}
	name := namedfile.Resolve(file, r.redirectsKey.Text)
	src, ok := r.readNamed(r.File, r.redirectsKey.Pos, "the redirects", name)
	if !ok {
		return
	}
	r.redirects = redirects.ParseFile(name, src)
	for _, line := range r.redirects.Lines {
		r.config.Redirects = append(r.config.Redirects, line.Redirect)
	}
}
