package acme

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
)

// accounts has the account at one server, in the storage.
type accounts struct {
	client  *acme.Client
	storage certmagic.Storage
	email   string
	folder  string // the key of the server in the storage
}

// A storedAccount is an account in the storage. One file has all of it, because several files
// cannot be written at once.
type storedAccount struct {
	Account acme.Account `json:"account"`
	Key     string       `json:"key"` // PEM
}

// key returns the key of the account in the storage. Another address is another account.
func (a *accounts) key() string {
	name := "default"
	if a.email != "" {
		name = certmagic.StorageKeys.Safe(a.email)
	}
	return path.Join(a.folder, name+".json")
}

// use returns the account, which it registers if there is none yet.
func (a *accounts) use(ctx context.Context) (acme.Account, error) {
	account, err := a.load(ctx)
	if !errors.Is(err, fs.ErrNotExist) {
		return account, err
	}
	return a.locked(ctx, func() (acme.Account, error) {
		// Another name, or another process, may have registered it while this one waited.
		account, err := a.load(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			return a.register(ctx)
		}
		return account, err
	})
}

// replace registers a new account, because the server does not know this one.
func (a *accounts) replace(ctx context.Context, unknown acme.Account) (acme.Account, error) {
	return a.locked(ctx, func() (acme.Account, error) {
		if account, err := a.load(ctx); err == nil && account.Location != unknown.Location {
			return account, nil
		}
		return a.register(ctx)
	})
}

func (a *accounts) locked(ctx context.Context, f func() (acme.Account, error)) (acme.Account, error) {
	name := "account_" + a.key()
	if err := a.storage.Lock(ctx, name); err != nil {
		return acme.Account{}, err
	}
	account, err := f()
	return account, errors.Join(err, a.storage.Unlock(context.WithoutCancel(ctx), name))
}

func (a *accounts) load(ctx context.Context) (acme.Account, error) {
	value, err := a.storage.Load(ctx, a.key())
	if err != nil {
		return acme.Account{}, err
	}
	var stored storedAccount
	if err := json.Unmarshal(value, &stored); err != nil {
		return acme.Account{}, fmt.Errorf("%s: %w", a.key(), err)
	}
	key, err := certmagic.PEMDecodePrivateKey([]byte(stored.Key))
	if err != nil {
		return acme.Account{}, fmt.Errorf("%s: %w", a.key(), err)
	}
	stored.Account.PrivateKey = key
	return stored.Account, nil
}

// register registers an account and stores it. The user of Weir agrees to the terms of the
// server by naming it in the configuration.
func (a *accounts) register(ctx context.Context) (acme.Account, error) {
	key, err := certmagic.StandardKeyGenerator{KeyType: certmagic.P256}.GenerateKey()
	if err != nil {
		return acme.Account{}, err
	}
	text, err := certmagic.PEMEncodePrivateKey(key)
	if err != nil {
		return acme.Account{}, err
	}
	account := acme.Account{TermsOfServiceAgreed: true, PrivateKey: key.(crypto.Signer)}
	if a.email != "" {
		account.Contact = []string{"mailto:" + a.email}
	}
	if account, err = a.client.NewAccount(ctx, account); err != nil {
		return acme.Account{}, err
	}
	value, err := json.Marshal(storedAccount{Account: account, Key: string(text)})
	if err != nil {
		return acme.Account{}, err
	}
	return account, a.storage.Store(ctx, a.key(), value)
}

// isUnknownAccount reports whether the server does not know the account.
func isUnknownAccount(err error) bool {
	var problem acme.Problem
	return errors.As(err, &problem) && problem.Type == acme.ProblemTypeAccountDoesNotExist
}
