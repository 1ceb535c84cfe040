// Package basicauth admits requests with the name and the password of a user: the key basic_auth.
package basicauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/password"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/limit"
)

// A basicAuth is a stage that admits requests with the name and the password of a user.
//
// The verification of a password takes milliseconds to a second of CPU time. It runs outside
// of the loops, within a limit for the whole door, and its success is remembered. It takes
// as long for the name of an unknown user.
type basicAuth struct {
	refused    prometheus.Counter
	busy       prometheus.Counter // refusals by limitPasswords
	challenge  stage.Field
	users      map[string]*basicUser
	all        []*basicUser // of users
	userHeader string       // "" for none
	pass       bool         // Authorization
	checks     *limit.InFlight
	secret     [32]byte // of the digests
}

// A basicUser is a user and the last successful verification of the password.
type basicUser struct {
	hash     password.Hash
	verified atomic.Pointer[verification]
}

// A verification is a password that matches, as its digest, and the end of its validity.
type verification struct {
	digest [sha256.Size]byte
	until  time.Time
}

const (
	// verificationTime is how long a verification is valid. It bounds the time in which the
	// digest of a password is in memory; a reload forgets all verifications.
	verificationTime = 5 * time.Minute

	// maxCredentials is the maximum length of a user's name and password. Longer ones match
	// nothing.
	maxCredentials = 1 << 10

	// passwordQueue is the number of requests whose passwords wait to be verified, and
	// passwordWait is how long they wait.
	passwordQueue = 100
	passwordWait  = 5 * time.Second
)

// A Feature holds the state that the authentications of all routes share.
type Feature struct {
	checks *limit.InFlight // passwords that are verified at the same time
}

// New returns the feature of a front door: half of the processors verify
// passwords, and the others serve other requests meanwhile.
func New() *Feature {
	return &Feature{limit.NewInFlight(limit.InFlightOptions{
		Max: max(machine.Processors()/2, 1), Queue: passwordQueue, Wait: passwordWait,
	})}
}

// limitPasswords is the name of the limit in the log and in the metrics.
const limitPasswords = "password_checks"

// Stage returns the stage of a route, or nil.
func (f *Feature) Stage(c *Config, r *stage.Route) (stage.Stage, error) {
	if c == nil {
		return nil, nil
	}
	a := &basicAuth{
		refused: r.Refused("basic_auth", r.Label), busy: r.Limited(limitPasswords, r.Label),
		challenge:  stage.Field{Name: "WWW-Authenticate", Value: fmt.Sprintf(`Basic realm="%s", charset="UTF-8"`, c.Realm)},
		users:      make(map[string]*basicUser, len(c.Users)),
		userHeader: c.UserHeader, pass: c.PassAuthorization,
		checks: f.checks,
	}
	for _, u := range c.Users {
		hash, err := password.Parse(u.Hash)
		if err != nil {
			return nil, fmt.Errorf("user %q: %w", u.Name, err)
		}
		user := &basicUser{hash: hash}
		a.users[u.Name] = user
		a.all = append(a.all, user)
	}
	if len(a.all) == 0 {
		return nil, errors.New("basic_auth has no user")
	}
	rand.Read(a.secret[:]) // never fails
	return a, nil
}

func (a *basicAuth) Apply(x *stage.Exchange) (responded bool) {
	name, secret, why := credentials(x.Header)
	if why == "" {
		ok, err := a.verify(x, name, secret)
		switch {
		case errors.Is(err, context.Canceled):
			x.Err = &proxying.Error{Kind: proxying.ClientGone, Step: "waiting for the check of its password", Err: err}
			x.Status, x.Cut = 499, true
			return true
		case err != nil:
			a.busy.Inc()
			x.Limit = limitPasswords
			x.Refuse(503, "too many passwords to check", stage.Field{Name: "Retry-After", Value: "1"})
			return true
		case !ok:
			why = "wrong user name or password"
		}
	}
	if why != "" {
		a.refused.Inc()
		x.Refuse(401, "basic_auth: "+why, a.challenge)
		return true
	}
	x.User = strings.Clone(name)
	if a.userHeader != "" {
		x.Send = append(x.Send, stage.Field{Name: a.userHeader, Value: x.User})
	}
	if !a.pass {
		x.SendRemove = stage.JoinNames(x.SendRemove, authorizationFields)
	}
	return false
}

const authorizationField = "Authorization"

var authorizationFields = []string{authorizationField}

// credentials returns the name and the password in a header, or why there are none.
func credentials(header []stage.Field) (name, secret, why string) {
	value, fields := "", 0
	for i := range header {
		if httpsyntax.EqualFold(header[i].Name, authorizationField) {
			value = header[i].Value
			fields++
		}
	}
	scheme, encoded, _ := strings.Cut(value, " ")
	switch {
	case fields == 0:
		return "", "", "no user name and password"
	case fields > 1:
		return "", "", "several Authorization fields"
	case !httpsyntax.EqualFold(scheme, "Basic"):
		return "", "", "Authorization has another scheme than Basic"
	}
	encoded = strings.TrimLeft(encoded, " ")
	if len(encoded) > base64.StdEncoding.EncodedLen(maxCredentials) {
		return "", "", "the user name and password are too long"
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return "", "", "Authorization is malformed"
	}
	name, secret, ok := strings.Cut(string(decoded), ":")
	if !ok || !httpsyntax.IsPlain(name) || !httpsyntax.IsPlain(secret) {
		return "", "", "Authorization is malformed"
	}
	return name, secret, ""
}

// verify reports whether there is such a user with this password. The error is that of the
// limit, or context.Canceled.
func (a *basicAuth) verify(x *stage.Exchange, name, secret string) (ok bool, err error) {
	digest := a.digest(name, secret)
	user, known := a.users[name]
	if known && user.verifiedBefore(&digest, x.Arrived) {
		return true, nil
	}
	if !known {
		// The hash of another user is as costly as one of this user could be. The choice
		// depends only on the name: repeated attempts take the same time.
		of := a.digest(name, "")
		user = a.all[binary.NativeEndian.Uint64(of[:])%uint64(len(a.all))]
	}
	ctx, cancel := x.WaitContext()
	defer cancel()
	x.Block(func() {
		if err = a.checks.Enter(ctx); err == nil {
			defer a.checks.Leave()
			ok = user.hash.Matches(secret)
		}
	})
	if ok = ok && known; ok {
		user.verified.Store(&verification{digest, x.Arrived.Add(verificationTime)})
	}
	return ok, err
}

// verifiedBefore reports whether the digest is that of a verification which is still valid.
func (u *basicUser) verifiedBefore(digest *[sha256.Size]byte, now time.Time) bool {
	v := u.verified.Load()
	return v != nil && hmac.Equal(v.digest[:], digest[:]) && now.Before(v.until)
}

// digest returns a digest of a name and a password that cannot be computed without the
// secret of this process.
func (a *basicAuth) digest(name, secret string) (digest [sha256.Size]byte) {
	h := hmac.New(sha256.New, a.secret[:])
	h.Write([]byte(name))
	h.Write([]byte{0}) // neither of the two has a zero byte
	h.Write([]byte(secret))
	h.Sum(digest[:0])
	return digest
}

// Explain implements stage.Explainer.
func (a *basicAuth) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"requires a user and a password, otherwise responds with 401"}, false
}
