// Package httpsredirect makes clients use https: the keys tls.redirect and tls.hsts.
package httpsredirect

import (
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
)

// A Policy makes clients use https.
type Policy struct {
	redirect bool
	port     string        // of the redirect, with its colon; "" for 443
	hsts     []stage.Field // of responses over TLS
}

// New returns nil if the configuration has no policy.
func New(c Config) *Policy {
	if c == (Config{}) {
		return nil
	}
	p := &Policy{redirect: c.Redirect != 0}
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
		p.hsts = []stage.Field{{Name: "Strict-Transport-Security", Value: value}}
	}
	return p
}

// SetHSTS sets the field of HSTS if the client uses https. Otherwise it reports whether the
// request is redirected, unless its route is excepted. scheme is the scheme of the client,
// which a trusted proxy may report.
func (p *Policy) SetHSTS(x *stage.Exchange, scheme string) (redirect bool) {
	if strings.EqualFold(scheme, "https") {
		x.Response = append(x.Response, p.hsts...)
		return false
	}
	return p.redirect
}

// Respond redirects a request to the same address with https.
func (p *Policy) Respond(x *stage.Exchange) {
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
	x.Respond(308, "", stage.Field{Name: "Location", Value: location})
}
