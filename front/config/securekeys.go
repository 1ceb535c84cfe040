package config

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// secureKeys are those that make clients use https.
var secureKeys = []key{
	{Path: "tls.redirect", Ambiguous: true,
		Read: one(parseHTTPSRedirect, func(c *Config) *int { return &c.TLS.Redirect })},
	{Path: "tls.hsts", Read: readHSTS},
	{Path: "tls.hsts.max_age", Ambiguous: true, Required: "write how long browsers keep it, as in: hsts: {max_age: 365d}",
		Read: readHSTSAge},
	{Path: "tls.hsts.subdomains", Read: one(yamlfile.Switch, func(c *Config) *bool { return &c.TLS.HSTS.Subdomains })},
	{Path: "tls.hsts.preload", Read: one(yamlfile.Switch, func(c *Config) *bool { return &c.TLS.HSTS.Preload })},
	{Path: "routes.*.plain_http", Read: readPlainHTTP},
}

// samePortAsTLS is the value of redirect: true until the listeners are known.
const samePortAsTLS = -1

// parseHTTPSRedirect reads a switch or a port.
func parseHTTPSRedirect(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	switch s.Text {
	case "true":
		return samePortAsTLS, nil
	case "false":
		return 0, nil
	}
	port, err := strconv.Atoi(s.Text)
	if err != nil || port == 0 || !scalar.IsPort(s.Text) {
		return 0, yamlfile.Refuse("write true, or the port of the https URLs, as in 443", "%s is not known here",
			yamlfile.Quote(s.Text))
	}
	return port, nil
}

var readHSTSAge = one(parseHSTSAge, func(c *Config) *time.Duration { return &c.TLS.HSTS.MaxAge })

// readHSTS reads a mapping, or a duration as its max_age.
func readHSTS(r *fileReader, p place, n *yamlfile.Node) {
	p.To.config.TLS.HSTS = new(HSTS)
	if n.Kind == yamlfile.Single {
		readHSTSAge(r, p, n)
	} else {
		r.Fields(p, n)
	}
}

func parseHSTSAge(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	d, refused := yamlfile.Duration(s)
	if refused == nil && d%time.Second != 0 {
		return 0, yamlfile.Refuse("write whole seconds or days, as in 365d", "%s is not an age", yamlfile.Quote(s.Text))
	}
	return d, refused
}

// readPlainHTTP reads a switch and keeps its position.
func readPlainHTTP(r *fileReader, p place, n *yamlfile.Node) {
	plain, ok := yamlfile.ReadOne(r, p, n, yamlfile.Switch)
	if p.To.route.PlainHTTP = plain; ok && plain {
		p.To.plainHTTP = append(p.To.plainHTTP, plainRoute{r.File, p.Key.Pos})
	}
}

// preloadAge is the least max_age of browsers' lists of hosts with HSTS (hstspreload.org).
const preloadAge = 365 * 24 * time.Hour

// checkSecure determines the port of redirects, and reports keys without effect.
func (r *reader) checkSecure(c *Config) {
	if c.TLS == nil || c.TLS.Redirect == 0 {
		for _, route := range r.plainHTTP {
			route.Mistakef(route.at, "remove it, or add: tls: {redirect: true}",
				"plain_http has no effect without a redirect to https")
		}
	}
	if c.TLS == nil {
		return
	}
	if c.TLS.Redirect != 0 && c.Listen == nil {
		r.Mistakef(r.Positions["tls.redirect"][0], `add one, as in: listen: ":80"`,
			"redirect has no effect without a listener for plain http")
	}
	if c.TLS.Redirect == samePortAsTLS {
		c.TLS.Redirect = portOf(c.TLS.Listen[0])
	}
	if h := c.TLS.HSTS; h != nil && h.Preload && (!h.Subdomains || h.MaxAge < preloadAge) {
		r.Mistakef(r.Positions["tls.hsts.preload"][0], "write {max_age: 365d, subdomains: true, preload: true}, or remove it",
			"preload needs subdomains and a max_age of at least 365d")
	}
}

// portOf returns the port of an address, or that of https if it is not known.
func portOf(addr string) int {
	if strings.HasPrefix(addr, SystemdPrefix) {
		return 443
	}
	_, port, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(port) // parseListen has checked it
	return cmp.Or(n, 443)
}
