package proxying

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/stickycookie"
)

// Sticky keeps clients at the servers that their first requests were sent to, with a cookie.
type Sticky struct {
	Cookie string // its name

	// MaxAge is how long browsers keep the cookie, in whole seconds. 0 keeps it until the browser
	// ends.
	MaxAge time.Duration

	// Secret is the key of the cookie's value. Proxies with the same servers have the same
	// Secret, so that each of them recognises the cookies of the others.
	Secret []byte
}

// cookieBytes is the length of the value of a cookie. Hexadecimal digits double it.
const cookieBytes = 16

// cookie returns the cookie of a server of an upstream. Its value is a keyed hash (HMAC-SHA256)
// of the two. Without the key, the value for a server cannot be computed, and the server of a
// value cannot be found out.
func (s *Sticky) cookie(upstream string, of *Server) stickycookie.Cookie {
	mac := hmac.New(sha256.New, s.Secret)
	io.WriteString(mac, upstream+"\x00"+of.url+"\x00"+of.Addr())
	return stickycookie.New(s.Cookie, hex.EncodeToString(mac.Sum(nil)[:cookieBytes]), s.MaxAge)
}

// FindCookie reports whether a request has a cookie that accept returns true for. A request
// over HTTP/2 may have several Cookie fields, and cookies of different paths may have the same
// name.
func FindCookie(header []Field, accept func(name, value string) bool) bool {
	for i := range header {
		f := &header[i]
		if len(f.Name) != len("Cookie") || !httpsyntax.EqualFold(f.Name, "Cookie") {
			continue
		}
		for rest := f.Value; rest != ""; {
			var pair string
			pair, rest, _ = strings.Cut(rest, ";")
			name, value, ok := strings.Cut(strings.Trim(pair, " \t"), "=")
			if ok && accept(strings.TrimRight(name, " \t"), value) {
				return true
			}
		}
	}
	return false
}
