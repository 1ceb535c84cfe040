package front

import (
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/proxy"
)

// A securePolicy makes clients use https.
type securePolicy struct {
	redirect bool
	port     string        // of the redirect, with its colon; "" for 443
	hsts     []proxy.Field // of responses over TLS
}

// newSecurePolicy returns nil if the configuration has no policy.
func newSecurePolicy(c *config.TLS) *securePolicy {
	if c == nil || c.Redirect == 0 && c.HSTS == nil {
		return nil
	}
	p := &securePolicy{redirect: c.Redirect != 0}
	if c.Redirect != 443 {
		p.port = ":" + strconv.Itoa(c.Redirect)
	}
	if h := c.HSTS; h != nil {
		value := "max-age=" + strconv.FormatInt(int64(h.MaxAge/time.Second), 10)
		if h.Subdomains {
			value += "; includeSubDomains"
		}
		if h.Preload {
			value += "; preload"
		}
		p.hsts = []proxy.Field{{Name: "Strict-Transport-Security", Value: value}}
	}
	return p
}

// begin sets the field of HSTS if the client uses https. Otherwise it reports whether the
// request is redirected, unless its route is excepted. A trusted proxy reports the scheme of
// the client.
func (p *securePolicy) begin(x *exchange, t *tables) (redirect bool) {
	if strings.EqualFold(t.trust.Scheme(x.Peer, x.Header, x.Scheme), "https") {
		x.Answer = append(x.Answer, p.hsts...)
		return false
	}
	return p.redirect
}

// toHTTPS redirects a request to the same address with https.
func (p *securePolicy) toHTTPS(x *exchange) {
	location, _ := x.Text(func(b []byte) ([]byte, error) {
		b = append(b, "https://"...)
		if strings.Contains(x.Hostname, ":") {
			b = append(append(append(b, '['), x.Hostname...), ']')
		} else {
			b = append(b, x.Hostname...)
		}
		return template.AppendURL(append(b, p.port...), x.Target), nil
	})
	x.Redirect = "tls.redirect"
	x.route = x.found
	x.Respond(308, "", proxy.Field{Name: "Location", Value: location})
}

// exceptsPlain reports whether the route of a request serves plain http.
func (x *exchange) exceptsPlain() bool { return x.found != nil && x.found.plainHTTP }
