// Package stickycookie has the cookies by which clients are kept at an upstream, or at one of
// its servers. All have the same attributes.
package stickycookie

import (
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Cookie assigns a client to an upstream or a server. The zero Cookie assigns to none.
type Cookie struct {
	value         string
	plain, secure string // values of Set-Cookie, for clients that use http and https
}

// New returns a cookie with a name and a value that needs no escaping. Browsers keep it for
// maxAge, in whole seconds; 0 keeps it until the browser ends.
func New(name, value string, maxAge time.Duration) Cookie {
	text := name + "=" + value + "; Path=/"
	if maxAge > 0 {
		text += fmt.Sprintf("; Max-Age=%d", maxAge/time.Second)
	}
	text += "; HttpOnly; SameSite=Lax"
	return Cookie{value: value, plain: text, secure: text + "; Secure"}
}

// Is reports whether a client's cookie has this value. The time that it takes does not depend
// on the number of equal bytes.
func (c *Cookie) Is(value string) bool {
	return c.value != "" && len(value) == len(c.value) && subtle.ConstantTimeCompare([]byte(value), []byte(c.value)) == 1
}

// SetCookie returns the value of Set-Cookie for a client that uses a scheme.
func (c *Cookie) SetCookie(scheme string) string {
	if httpsyntax.EqualFold(scheme, "https") {
		return c.secure
	}
	return c.plain
}
