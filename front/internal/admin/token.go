package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/log"
)

// eventWrongToken is the event of a request with a wrong token.
const eventWrongToken = "admin token refused"

const (
	// wrongTokens is the number of wrong tokens of a client after which it must wait.
	wrongTokens = 5
	// wrongTokenEvery is the time after which a client may send one more.
	wrongTokenEvery = 10 * time.Second
	// wrongClients is the number of clients with counted wrong tokens.
	wrongClients = 1000
)

// A tokenGuard admits the requests that change something by the token of the operators.
type tokenGuard struct {
	token func() string // "" admits all programs, but no page in a browser
	wrong *limit.Rate   // wrong tokens, by client
	log   func() *log.Logger
}

func newTokenGuard(token func() string, logger func() *log.Logger) *tokenGuard {
	return &tokenGuard{token, limit.NewRate(limit.RateOptions{
		Every: wrongTokenEvery, Burst: wrongTokens, Keys: wrongClients,
	}), logger}
}

// guard returns a handler that calls next for the requests that it admits. A client that has sent wrong tokens is
// refused before its next one is compared, so that it cannot guess.
func (g *tokenGuard) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		want := g.token()
		if want == "" {
			if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
				http.Error(w, "set admin.token: without it, a page in a browser may change nothing", http.StatusForbidden)
				return
			}
			next(w, r)
			return
		}
		peer, _ := netip.ParseAddrPort(r.RemoteAddr)
		client, now := limit.KeyOf(peer.Addr()), time.Now()
		if d := g.wrong.AllowN(now, client, 0); d.Remaining < 1 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wrongTokenEvery.Seconds())))
			http.Error(w, "too many wrong tokens; wait", http.StatusTooManyRequests)
			return
		}
		if !hasToken(r, want) {
			g.wrong.Allow(now, client)
			g.log().Warn(eventWrongToken).Str("client", peer.Addr().String()).Str("path", r.URL.Path).Send()
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this needs the token of admin.token, in Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// hasToken reports whether a request has a token. The time that it takes does not depend on the token of the request.
func hasToken(r *http.Request, want string) bool {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
