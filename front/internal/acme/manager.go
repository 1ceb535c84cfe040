package acme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// A Manager obtains and renews certificates. Goroutines may share it.
type Manager struct {
	options    Options
	config     *certmagic.Config
	cache      *certmagic.Cache
	challenges *challenges
	ctx        context.Context // done after Stop
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// New makes the folder of the storage, if it is missing, and loads the certificates in it. It
// sends nothing to the server. The caller calls Start when challenges can be answered, and
// Stop in any case.
func New(o Options) (*Manager, error) {
	if err := os.MkdirAll(o.Storage, 0o700); err != nil {
		return nil, fmt.Errorf("storage of certificates: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &Manager{options: o, ctx: ctx, stop: stop}
	logger := zap.New(bridge{log: o.Log})
	storage := &certmagic.FileStorage{Path: o.Storage}
	m.challenges = &challenges{storage: storage, names: o.Names}
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return m.config, nil },
		RenewCheckInterval: o.Interval, OCSPCheckInterval: o.Interval, // zero means the defaults
		Logger: logger,
	})
	m.config = certmagic.New(m.cache, certmagic.Config{
		Storage: storage, Logger: logger, OnEvent: m.observe,
		Issuers: []certmagic.Issuer{newIssuer(&o, storage, m.challenges, logger)},
	})
	m.load()
	return m, nil
}

// checkStorage logs an error if the storage cannot be written. The certificates in it are used all the same, and need
// no write until they are renewed, perhaps months later.
func (m *Manager) checkStorage() {
	f, err := os.CreateTemp(m.options.Storage, ".weir-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		m.options.Log(Event{Level: slog.LevelError, Message: EventNotWritable, Err: err})
	}
}

// Start begins to obtain and to renew certificates.
func (m *Manager) Start() {
	m.running.Go(func() {
		m.checkStorage()
		// The cache itself renews them at an interval.
		if err := m.cache.RenewManagedCertificates(m.ctx); err != nil {
			m.options.Log(Event{Level: slog.LevelError, Message: EventNotObtained, Err: err})
		}
	})
	for _, name := range m.options.Names {
		m.running.Go(func() { m.manage(m.ctx, name) })
	}
}

// Stop ends all work and waits for it. The certificates stay in use.
func (m *Manager) Stop() {
	m.stop()
	m.cache.Stop()
	m.running.Wait()
}

// retries are the multiples of the first retry's time: 1, 2, 5, 10, 20, 30, 60, 120 and 360
// minutes. A server that is down then gets few requests, and one that limits rates too.
var retries = []time.Duration{1, 2, 5, 10, 20, 30, 60, 120, 360}

// manage loads the certificate of a name, or obtains it, until that succeeds. From then on
// the cache renews it.
func (m *Manager) manage(ctx context.Context, name string) {
	first := m.options.Retry
	if first == 0 {
		first = time.Minute
	}
	for attempt := 0; ; attempt++ {
		err := m.config.ManageSync(ctx, []string{name})
		if err == nil || ctx.Err() != nil {
			return
		}
		pause := first * retries[min(attempt, len(retries)-1)]
		m.options.Log(Event{Level: slog.LevelError, Message: EventNotObtained, Err: err,
			Fields: map[string]any{"name": name, "retry_in": pause.String()}})
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// loadTime is how long New waits for stored certificates. Loading one may involve a request
// to a server of OCSP.
const loadTime = 2 * time.Second

// load loads the stored certificates.
func (m *Manager) load() {
	ctx, cancel := context.WithTimeout(m.ctx, loadTime)
	loaded := make(chan struct{})
	var loading sync.WaitGroup
	for _, name := range m.options.Names {
		loading.Go(func() {
			_, err := m.config.CacheManagedCertificate(m.ctx, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				m.options.Log(Event{Level: slog.LevelError, Message: "stored certificate not loaded", Err: err,
					Fields: map[string]any{"name": name}})
			}
		})
	}
	m.running.Go(func() {
		loading.Wait()
		close(loaded)
	})
	select {
	case <-loaded:
	case <-ctx.Done():
	}
	cancel()
}

// observe logs events of certmagic. Those of failures to obtain come from manage.
func (m *Manager) observe(_ context.Context, event string, data map[string]any) error {
	fields := map[string]any{"name": data["identifier"], "renewal": data["renewal"] == true}
	switch event {
	case "cert_obtained":
		m.options.Log(Event{Level: slog.LevelInfo, Message: EventObtained, Fields: fields})
	case "cert_failed":
		if err, _ := data["error"].(error); data["renewal"] == true && !errors.Is(err, context.Canceled) {
			m.options.Log(Event{Level: slog.LevelError, Message: EventNotObtained, Err: err, Fields: fields})
		}
	case "cert_ocsp_revoked":
		names, _ := data["subjects"].([]string)
		m.options.Log(Event{Level: slog.LevelWarn, Message: EventRevoked,
			Fields: map[string]any{"name": strings.Join(names, ", ")}})
	}
	return nil
}

// Certificate returns the certificate of a name or a wildcard, or nil if there is none yet.
// The caller must not change it.
func (m *Manager) Certificate(name string) *tls.Certificate {
	var newest *tls.Certificate
	for _, c := range m.cache.AllMatchingCertificates(name) {
		if newest == nil || c.Leaf.NotAfter.After(newest.Leaf.NotAfter) {
			newest = &c.Certificate
		}
	}
	return newest
}

// Names returns the names and wildcards of the certificates. The caller must not change it.
func (m *Manager) Names() []string { return m.options.Names }

// ChallengeCertificate returns the certificate by which tls-alpn-01 verifies the control of a
// name, RFC 8737.
func (m *Manager) ChallengeCertificate(ctx context.Context, name string) (*tls.Certificate, error) {
	return m.challenges.certificate(ctx, name)
}

// ChallengePrefix begins the paths of http-01, RFC 8555, section 8.3.
const ChallengePrefix = "/.well-known/acme-challenge/"

// ChallengeResponse returns the body of the response to a request of http-01 for a host and a
// path. It reads a file. ok is false if the path has no token of a challenge in progress.
func (m *Manager) ChallengeResponse(ctx context.Context, host, path string) (body string, ok bool) {
	return m.challenges.response(ctx, host, path)
}
