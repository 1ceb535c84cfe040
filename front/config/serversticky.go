package config

import (
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A stickyDraft is the sticky of an upstream and its position in the file.
type stickyDraft struct {
	ServerSticky
	at           yamlfile.Pos
	secret, file yamlfile.Scalar
}

var serverStickyKeys = []key{
	{Path: "upstreams.*.sticky", Ambiguous: true, Read: readServerSticky},
	{Path: "upstreams.*.sticky.cookie", Ambiguous: true, Required: "name the cookie, as in: sticky: {cookie: server}",
		Read: yamlfile.One(scalar.CookieName, func(f filling) *string { return &f.sticky.Cookie })},
	{Path: "upstreams.*.sticky.max_age", Ambiguous: true,
		Read: yamlfile.One(scalar.CookieAge, func(f filling) *time.Duration { return &f.sticky.MaxAge })},
	{Path: "upstreams.*.sticky.secret",
		Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.sticky.secret })},
	{Path: "upstreams.*.sticky.secret_file",
		Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.sticky.file })},
}

func readServerSticky(r *fileReader, p place, n *yamlfile.Node) {
	d := &stickyDraft{at: p.Key.Pos}
	p.To.sticky = d
	r.Fields(p, n)
	if n.Kind == yamlfile.Mapping {
		d.readSecret(r, p)
	}
	p.To.upstream.Sticky = &d.ServerSticky
}

// readSecret sets the secret, from the file if it is in one. Mistakes do not show it.
func (d *stickyDraft) readSecret(r *fileReader, p place) {
	const example = "write secret_file: FILE, with a key such as that of openssl rand -hex 32"
	at := d.secret.Pos
	switch {
	case d.secret.Text != "" && d.file.Text != "":
		r.Mistakef(d.file.Pos, "remove one of the two", "sticky has a secret and a secret_file")
		return
	case d.secret.Text != "":
		d.Secret = d.secret.Text
	case d.file.Text != "":
		at = d.file.Pos
		src, ok := p.To.readNamed(r.File, at, "the secret", namedfile.Resolve(r.Name(), d.file.Text))
		if !ok {
			return
		}
		d.Secret = strings.TrimRight(string(src), "\r\n")
	default:
		r.Mistakef(d.at, example, "sticky has no secret")
		return
	}
	if n := len(d.Secret); n < MinSecret {
		r.Mistakef(at, example, "the secret has %d bytes, and must have at least %d", n, MinSecret)
	}
}

// checkCookies reports a route whose sticky has the same cookie as that of an upstream of its
// split. Each of the two would replace the cookie of the other.
func (r *reader) checkCookies(d *routeDraft) {
	if d.Sticky == nil {
		return
	}
	for _, share := range d.Split {
		for _, u := range r.config.Upstreams {
			if u.Name == share.To && u.Sticky != nil && u.Sticky.Cookie == d.Sticky.Cookie {
				r.Mistakef(d.sticky, "give one of them another cookie",
					"the route and the upstream %s use the same cookie %s", yamlfile.Quote(u.Name), yamlfile.Quote(u.Sticky.Cookie))
			}
		}
	}
}
