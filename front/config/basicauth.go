package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/password"
	"github.com/weirhq/weir/internal/yamlfile"
)

// basicAuthKeys are the keys of [BasicAuth].
var basicAuthKeys = []key{
	{Path: "routes.*.basic_auth", Read: readBasicAuth},
	{Path: "routes.*.basic_auth.realm",
		Read: yamlfile.One(parseRealm, func(f filling) *string { return &f.route.BasicAuth.Realm })},
	{Path: "routes.*.basic_auth.users", Read: readUsers,
		Required: "name a file with a line NAME:HASH for each user, as in: users: users.htpasswd"},
	{Path: "routes.*.basic_auth.users.*", Read: readUser, Called: "the user %s"},
	{Path: "routes.*.basic_auth.user_header",
		Read: yamlfile.One(parseSentHeader, func(f filling) *string { return &f.route.BasicAuth.UserHeader })},
	{Path: "routes.*.basic_auth.pass_authorization",
		Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &f.route.BasicAuth.PassAuthorization })},
}

func readBasicAuth(r *fileReader, p place, n *yamlfile.Node) {
	p.To.route.BasicAuth = &BasicAuth{Realm: "restricted"}
	r.Fields(p, n)
}

// readUsers reads a mapping of names to hashes, or the file that a path names.
func readUsers(r *fileReader, p place, n *yamlfile.Node) {
	if n.Kind != yamlfile.Single {
		if !r.RefuseEmpty(p, n) {
			r.Names(p, n)
		}
		return
	}
	s, ok := r.Single(p, n)
	switch {
	case !ok:
	case strings.Contains(s.Text, ":"): // it may contain a password
		r.Mistakef(n.Pos, "write users: {NAME: HASH}, or name a file", "this is not the path of a file of users")
	default:
		p.To.route.BasicAuth.Users = p.To.userFile(r, s)
	}
}

func readUser(r *fileReader, p place, n *yamlfile.Node) {
	hash, ok := r.Single(p, n)
	if ok && checkUser(r.File, p.Key, hash) {
		auth := p.To.route.BasicAuth
		auth.Users = append(auth.Users, User{Name: p.Key.Text, Hash: hash.Text})
	}
}

// checkUser reports the mistakes in a user, and reports whether there was none. It does not
// show the hash, because that may be a password.
func checkUser(f *yamlfile.File, name, hash yamlfile.Scalar) bool {
	if name.Text == "" || strings.Contains(name.Text, ":") || !httpsyntax.IsPlain(name.Text) {
		f.Mistakef(name.Pos, "a name has printable characters without a colon", "%s cannot name a user",
			yamlfile.Quote(name.Text))
		return false
	}
	if _, err := password.Parse(hash.Text); err != nil {
		f.Mistakef(hash.Pos, "weir hash-password makes the hash of a password", "the password of user %s: %s",
			yamlfile.Quote(name.Text), err)
		return false
	}
	return true
}

// maxUserBytes is the maximum size of a file of users.
const maxUserBytes = 16 << 20

// userFile returns the users of a file, which it reads only once.
func (r *reader) userFile(by *fileReader, path yamlfile.Scalar) []User {
	name := resolve(by.Name(), path.Text)
	if i := slices.IndexFunc(r.userFiles, func(f *userFile) bool { return f.Name() == name }); i >= 0 {
		return r.userFiles[i].users
	}
	src, ok := r.readNamed(by.File, path.Pos, "the users", name)
	if !ok {
		return nil
	}
	f := parseUsers(name, src)
	r.userFiles = append(r.userFiles, f)
	if f.users == nil && len(f.Mistakes()) == 0 {
		by.Mistakef(path.Pos, "add a line NAME:HASH for each user", "the file %s has no user", yamlfile.Quote(name))
	}
	return f.users
}

// parseUsers parses lines NAME:HASH. Empty lines and lines that begin with "#" are ignored,
// and so is a second colon with the text after it.
func parseUsers(name string, src []byte) *userFile {
	f := &userFile{File: yamlfile.NewFile(name, "a file of users", src, maxUserBytes)}
	first := map[string]int{}
	i := 0
	for line := range strings.Lines(string(f.Source())) {
		i++
		line = strings.TrimRight(line, "\r\n")
		if strings.Trim(line, " \t") == "" || line[0] == '#' {
			continue
		}
		at := yamlfile.Pos{Line: i, Col: 1}
		user, hash, ok := strings.Cut(line, ":")
		if !ok {
			f.Mistakef(at, "write NAME:HASH", "the line has no colon")
			continue
		}
		hash, _, _ = strings.Cut(hash, ":")
		hashAt := f.PosOfColumn(i, len(user)+2)
		if !checkUser(f.File, yamlfile.Scalar{Text: user, Pos: at}, yamlfile.Scalar{Text: hash, Pos: hashAt}) {
			continue
		}
		if before, again := first[user]; again {
			f.Mistakef(at, "keep one of the two", "%s is given twice, first on line %d", yamlfile.Quote(user), before)
			continue
		}
		first[user] = i
		f.users = append(f.users, User{Name: user, Hash: hash})
	}
	return f
}

// parseRealm reads the name of the area that a password protects.
func parseRealm(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if strings.ContainsAny(s.Text, `"\`) {
		return "", yamlfile.Refuse("write it without quotes and backslashes", "%s is not a realm", yamlfile.Quote(s.Text))
	}
	return parseFieldValue(s)
}

// parseSentHeader reads the name of a request field that weir sets.
func parseSentHeader(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	switch {
	case !httpsyntax.IsToken(s.Text):
		return "", yamlfile.Refuse("write a name, as in X-User", "%s is not the name of a header field",
			yamlfile.Quote(s.Text))
	case (&fieldDraft{name: s, verb: "add"}).owned() != "":
		return "", yamlfile.Refuse("choose another name, as in X-User", "weir itself writes %s", yamlfile.Quote(s.Text))
	}
	return s.Text, nil
}
