package acme

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// challenges are those in progress, of all processes that share the storage: the server may
// ask another one than that which has ordered the certificate.
type challenges struct {
	storage certmagic.Storage
	names   []string // others have no challenges
}

// A stored solver keeps challenges in the storage until they end. It implements acmez.Solver.
type storedSolver struct{ *challenges }

func (s storedSolver) Present(ctx context.Context, c acme.Challenge) error {
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.storage.Store(ctx, challengeKey(c.Type, c.Identifier.Value), value)
}

func (s storedSolver) CleanUp(ctx context.Context, c acme.Challenge) error {
	return s.storage.Delete(context.WithoutCancel(ctx), challengeKey(c.Type, c.Identifier.Value))
}

func challengeKey(kind, name string) string {
	return path.Join("challenges", kind, certmagic.StorageKeys.Safe(name)+".json")
}

var errNoChallenge = errors.New("no challenge is in progress")

// find returns the challenge of a name that is in progress.
func (c *challenges) find(ctx context.Context, kind, name string) (found acme.Challenge, err error) {
	if !slices.Contains(c.names, name) {
		return found, errNoChallenge
	}
	value, err := c.storage.Load(ctx, challengeKey(kind, name))
	if errors.Is(err, fs.ErrNotExist) {
		return found, errNoChallenge
	}
	if err == nil {
		err = json.Unmarshal(value, &found)
	}
	return found, err
}

func (c *challenges) response(ctx context.Context, host, path string) (body string, ok bool) {
	found, err := c.find(ctx, acme.ChallengeTypeHTTP01, host)
	if err != nil || found.Token == "" || path != found.HTTP01ResourcePath() {
		return "", false
	}
	return found.KeyAuthorization, true
}

func (c *challenges) certificate(ctx context.Context, name string) (*tls.Certificate, error) {
	found, err := c.find(ctx, acme.ChallengeTypeTLSALPN01, name)
	if err != nil {
		return nil, err
	}
	return acmez.TLSALPN01ChallengeCert(found)
}
