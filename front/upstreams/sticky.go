package upstreams

import (
	"time"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Sticky assigns clients to servers of an upstream by a signed cookie.
type Sticky struct {
	Cookie string // its name

	// MaxAge is how long browsers keep the cookie, in whole seconds. Zero, the default,
	// keeps it until the browser ends.
	MaxAge time.Duration

	// Secret is the key of the cookies, at least 16 bytes. Front doors with the same servers
	// have the same Secret.
	Secret string
}

// A stickyDraft is the sticky of an upstream and its position in the file.
type stickyDraft struct {
	Sticky
	at     yamlfile.Pos
	secret namedfile.Secret
}

// stickyKeys returns the keys of [Sticky] at a path.
func stickyKeys[T any](path string, at func(T) *stickyDraft, file func(T) certs.Reader) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Ambiguous: true, Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			d := at(p.To)
			d.at = p.Key.Pos
			before := r.Reports()
			r.Fields(p, n)
			given := n.Find("secret") != nil || n.Find("secret_file") != nil
			reported := given && !d.secret.IsGiven() && r.Reports() > before
			if n.Kind == yamlfile.Mapping && !reported {
				d.readSecret(r.File, file(p.To))
			}
		}},
		{Path: path + ".cookie", Doc: "the cookie that keeps a client at its server", Ambiguous: true,
			Required: "name the cookie, as in: sticky: {cookie: server}",
			Read:     yamlfile.One(scalar.CookieName, func(t T) *string { return &at(t).Cookie })},
		{Path: path + ".max_age", Doc: "how long browsers keep that cookie", Ambiguous: true,
			Read: yamlfile.One(scalar.CookieAge, func(t T) *time.Duration { return &at(t).MaxAge })},
		{Path: path + ".secret", Doc: "the secret that signs the cookies",
			Read: yamlfile.One(scalar.Secret, func(t T) *yamlfile.Scalar { return &at(t).secret.Text })},
		{Path: path + ".secret_file", Doc: "a file with that secret",
			Read: yamlfile.One(scalar.Path, func(t T) *yamlfile.Scalar { return &at(t).secret.File })},
	}
}

// readSecret sets the secret, from the file if it is in one.
func (d *stickyDraft) readSecret(f *yamlfile.File, read certs.Reader) {
	if !d.secret.IsGiven() {
		f.Mistakef(d.at, "write secret_file: FILE, with a key such as openssl rand -hex 32 makes", "sticky has no secret")
		return
	}
	d.Secret = d.secret.Read(f, "sticky", "secret", read)
}
