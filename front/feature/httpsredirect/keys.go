package httpsredirect

import (
	"strconv"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the keys redirect and hsts of the listeners for https.
type Config struct {
	// Redirect is the port of the https URLs to which requests over plain http are redirected,
	// except for routes with plain_http. Zero, the default, does not redirect.
	Redirect int

	// HSTS, if not nil, makes browsers use https only.
	HSTS *HSTS
}

// HSTS is the value of Strict-Transport-Security (RFC 6797).
type HSTS struct {
	MaxAge     time.Duration // whole seconds; zero makes browsers forget it
	Subdomains bool          // it is also for all subdomains
	Preload    bool          // browsers may have it in their lists
}

// A Draft is a Config that is being read.
type Draft struct {
	*Config // nil without listeners for https
	plain   []plainRoute
}

// A plainRoute is the place of plain_http in a route.
type plainRoute struct {
	*yamlfile.File
	at yamlfile.Pos
}

// Keys returns the keys of a [Config], which are keys of the listeners for https at a path. at returns where they
// are kept.
func Keys[T any](path string, at func(T) *Draft) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path + ".redirect", Doc: "redirect requests without TLS to https", Ambiguous: true,
			Read: yamlfile.One(parseRedirect, func(t T) *int { return &at(t).Redirect })},
		{Path: path + ".hsts", Short: "max_age",
			Off: func(t T) { at(t).HSTS = nil },
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				at(p.To).HSTS = new(HSTS)
				r.Fields(p, n)
			}},
		{Path: path + ".hsts.max_age", Doc: "how long browsers use only https for the host", Ambiguous: true,
			Required: "write how long browsers keep it, as in: hsts: {max_age: 365d}",
			Read:     yamlfile.One(parseAge, func(t T) *time.Duration { return &at(t).HSTS.MaxAge })},
		{Path: path + ".hsts.subdomains", Doc: "the same for all subdomains",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &at(t).HSTS.Subdomains })},
		{Path: path + ".hsts.preload", Doc: "browsers may have the host in their lists",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &at(t).HSTS.Preload })},
	}
}

// PlainKeys returns the key at a path that excepts a route from the redirect. at returns where it is kept, and of the
// draft that gets its place.
func PlainKeys[T any](path string, at func(T) *bool, of func(T) *Draft) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Doc: "except this route from the redirect to https",
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				n.DescribeUnset(*at(p.To))
				plain, ok := yamlfile.ReadOne(r, p, n, yamlfile.Switch)
				if *at(p.To) = plain; ok && plain {
					d := of(p.To)
					d.plain = append(d.plain, plainRoute{r.File, p.Key.Pos})
				}
			}},
	}
}

// samePort is the value of redirect: true until the listeners are known.
const samePort = -1

// parseRedirect reads a switch or a port.
func parseRedirect(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "port", Words: []string{"true", "false"}, Pattern: "[1-9][0-9]*", Number: true})
	switch s.Text {
	case "true":
		return samePort, nil
	case "false":
		return 0, nil
	case "off", "no", "none", "0":
		return 0, yamlfile.Refuse("write false", "%s is not known here", yamlfile.Quote(s.Text))
	}
	port, err := strconv.Atoi(s.Text)
	if err != nil || port == 0 || !scalar.IsPort(s.Text) {
		return 0, yamlfile.Refuse("write true, or the port of the https URLs, as in 443", "%s is not known here",
			yamlfile.Quote(s.Text))
	}
	return port, nil
}

func parseAge(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	return scalar.WholeSeconds(s, 0, "write whole seconds or days, as in 365d", "an age")
}

// preloadAge is the least max_age of browsers' lists of hosts with HSTS (hstspreload.org).
const preloadAge = 365 * 24 * time.Hour

// CheckPlain reports routes with plain_http if there is no redirect.
func (d *Draft) CheckPlain() {
	if d.Config != nil && d.Redirect != 0 {
		return
	}
	for _, k := range d.plain {
		k.Mistakef(k.at, "remove it, or add: tls: {redirect: true}", "plain_http has no effect without a redirect to https")
	}
}

// Check reports keys without effect, and determines the port of the redirect. at returns the place of a key below the
// key of the listeners, plain says whether there is a listener for plain http, and port is the port of the first
// listener for https.
func (d *Draft) Check(f *yamlfile.File, at func(key string) yamlfile.Pos, plain bool, port int) {
	if d.Redirect != 0 && !plain {
		f.Mistakef(at("redirect"), `add one, as in: listen: ":80"`,
			"redirect has no effect without a listener for plain http")
	}
	if d.Redirect == samePort {
		d.Redirect = port
	}
	if h := d.HSTS; h != nil && h.Preload && (!h.Subdomains || h.MaxAge < preloadAge) {
		f.Mistakef(at("hsts.preload"), "write {max_age: 365d, subdomains: true, preload: true}, or remove it",
			"preload needs subdomains and a max_age of at least 365d")
	}
}
