package basicauth

import (
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/password"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key basic_auth: it admits requests with the name and the password of a user, RFC 7617.
type Config struct {
	Realm string // shown by browsers that ask for a password. Default "restricted"
	Users []User // at least one, with different names

	// UserHeader is the name of a request field in which the upstream gets the name of
	// the user. Empty sends none.
	UserHeader string

	// PassAuthorization passes the user's name and password to the upstream.
	PassAuthorization bool
}

// User is a user and the hash of the password, argon2id or bcrypt.
type User struct{ Name, Hash string }

// Keys returns the keys of a [Config] at a path. at returns where it is kept, and file reads a file of
// users, by [ParseUsers].
func Keys[T any](
	path string, at func(T) **Config, file func(t T, by *yamlfile.File, path yamlfile.Scalar) []User,
) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "users", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			*at(p.To) = &Config{Realm: "restricted"}
			r.Fields(p, n)
		}},
		{Path: path + ".realm", Doc: "the text that browsers show",
			Read: yamlfile.One(parseRealm, func(t T) *string { return &(*at(t)).Realm })},
		{Path: path + ".users", Doc: "a file with the users and the hashes of their passwords",
			Required: "name a file with a line NAME:HASH for each user, as in: users: users.htpasswd",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				if path, ok := readUsers(r, p, n); ok {
					(*at(p.To)).Users = file(p.To, r.File, path)
				}
			}},
		{Path: path + ".users.*", Doc: "the hash of the password of a user",
			Called: "the user %s",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				if hash, ok := yamlfile.ReadOne(r, p, n, parseHash); ok && checkUser(r.File, p.Key, hash) {
					c := *at(p.To)
					c.Users = append(c.Users, User{Name: p.Key.Text, Hash: hash.Text})
				}
			}},
		{Path: path + ".user_header", Doc: "the request field with the name of the user",
			Read: yamlfile.One(scalar.SentHeader, func(t T) *string { return &(*at(t)).UserHeader })},
		{Path: path + ".pass_authorization", Doc: "pass the password to the upstream",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &(*at(t)).PassAuthorization })},
	}
}

// readUsers reads a mapping of names to hashes, or returns the path of a file.
func readUsers[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) (path yamlfile.Scalar, isFile bool) {
	if n.Kind != yamlfile.Single {
		if !r.RefuseEmpty(p, n) {
			r.Names(p, n)
		}
		return path, false
	}
	path, isFile = yamlfile.ReadOne(r, p, n, parseFile)
	if isFile && strings.Contains(path.Text, ":") { // it may contain a password
		r.Mistakef(n.Pos, "write users: {NAME: HASH}, or name a file", "this is not the path of a file of users")
		return path, false
	}
	return path, isFile
}

// parseFile reads the path of a file, which is checked when it is read.
func parseFile(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "path"})
	return s, nil
}

// parseHash reads the hash of a password, which is checked with the name of the user.
func parseHash(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "hash of a password", Pattern: `[$].+`})
	return s, nil
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

// ParseUsers parses lines NAME:HASH. Empty lines and lines that begin with "#" are ignored,
// and so is a second colon with the text after it.
func ParseUsers(name string, src []byte) (f *yamlfile.File, users []User) {
	f = yamlfile.NewFile(name, "a file of users", src, maxUserBytes)
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
		if !checkUser(f, yamlfile.Scalar{Text: user, Pos: at}, yamlfile.Scalar{Text: hash, Pos: hashAt}) {
			continue
		}
		if before, again := first[user]; again {
			f.Mistakef(at, "keep one of the two", "%s is given twice, first on line %d", yamlfile.Quote(user), before)
			continue
		}
		first[user] = i
		users = append(users, User{Name: user, Hash: hash})
	}
	return f, users
}

// parseRealm reads the name of the area that a password protects.
func parseRealm(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "text", Pattern: `[^"\\]+`})
	if strings.ContainsAny(s.Text, `"\`) {
		return "", yamlfile.Refuse("write it without quotes and backslashes", "%s is not a realm", yamlfile.Quote(s.Text))
	}
	return scalar.FieldValue(s)
}
