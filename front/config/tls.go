package config

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/yamlfile"
)

// tlsKeys returns the keys of [secure.Config].
func tlsKeys() []key {
	keys := secure.Keys("tls", func(f filling) *secure.Draft { return &f.tls },
		func(f filling) certs.Reader { return f.readNamed }, parseListen)
	read := keys[0].Read
	keys[0].Read = func(r *fileReader, p place, n *yamlfile.Node) {
		c := &TLS{Config: secure.Default()}
		p.To.config.TLS, p.To.tls.Config, p.To.https.Config = c, &c.Config, &c.HTTPS
		read(r, p, n)
	}
	return keys
}

// checkTLS removes the default plain listener if there are listeners for https, and reports keys that miss others and a
// subject_header that a route writes, too.
func (r *reader) checkTLS(c *Config) {
	if c.TLS == nil {
		return
	}
	if !r.has("listen") {
		c.Listen = nil
	}
	r.tls.Check(r.File, r.Positions, c.Listen != nil)
	name := c.TLS.SubjectHeader
	if name == "" {
		return
	}
	at := r.Positions["tls.subject_header"][0]
	for _, route := range c.Routes {
		if key := route.writes(name); key != "" {
			r.Mistakef(at, "choose another name for one of them", "%s is also written by %s of the route %s",
				yamlfile.Quote(name), key, yamlfile.Quote(route.Match))
		}
	}
}

// writes returns the key by which a route writes or removes a request field, or "".
func (r *Route) writes(name string) string {
	is := func(other string) bool { return sameSent(name, other) }
	isField := func(f edits.Field) bool { return is(f.Name) }
	edited := &r.RequestHeaders
	if slices.ContainsFunc(edited.Set, isField) || slices.ContainsFunc(edited.Add, isField) ||
		slices.ContainsFunc(edited.Remove, is) {
		return "request_headers"
	}
	return r.requestWriter(name)
}

// checkSecure checks the keys that make clients use https.
func (r *reader) checkSecure(c *Config) {
	r.https.CheckPlain()
	if c.TLS != nil {
		at := func(key string) yamlfile.Pos { return r.Positions["tls."+key][0] }
		r.https.Check(r.File, at, c.Listen != nil, portOf(c.TLS.Listen))
	}
}

// portOf returns the port of the first address, or that of https if it is not known.
func portOf(addrs []string) int {
	if len(addrs) == 0 || strings.HasPrefix(addrs[0], SystemdPrefix) {
		return 443
	}
	_, port, _ := net.SplitHostPort(addrs[0])
	n, _ := strconv.Atoi(port) // parseListen has checked it
	return cmp.Or(n, 443)
}
