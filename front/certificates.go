package front

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/acme"
	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/metric"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/abandon"
	"github.com/weirhq/weir/log"
)

// certificates are those of the TLS listeners. They are replaced when their files change, and
// renewed if they are from ACME.
type certificates struct {
	store   certs.Store
	manager atomic.Pointer[acme.Manager] // nil without ACME
	logger  func() *log.Logger

	mu       sync.Mutex
	files    *certs.Files         // guarded by mu
	acme     *secure.ACME         // guarded by mu: that of manager
	running  bool                 // guarded by mu: the front door serves
	noted    map[string]time.Time // guarded by mu: the last events about the end of a certificate, by its source
	stopping sync.WaitGroup       // managers that end
}

func newCertificates(logger func() *log.Logger) *certificates {
	return &certificates{logger: logger, files: new(certs.Files), noted: make(map[string]time.Time)}
}

// A certificatesChange replaces all certificates. The caller calls apply or abandon.
type certificatesChange struct {
	certificates *certificates
	files        *certs.Files
	acme         *secure.ACME
	manager      *acme.Manager // that in use if the configuration of ACME is the same
}

// prepare reads the certificates of a configuration. It sends nothing.
func (c *certificates) prepare(cfg *config.Config) (*certificatesChange, error) {
	var pairs []certs.Pair
	change := &certificatesChange{certificates: c}
	if cfg.TLS != nil {
		for _, file := range cfg.TLS.Certificates {
			pairs = append(pairs, certs.Pair{Cert: file.Cert, Key: file.Key})
		}
		change.acme = cfg.TLS.ACME
	}
	var err error
	if change.files, err = certs.Open(pairs); err != nil || change.acme == nil {
		return change, err
	}
	c.mu.Lock()
	same := reflect.DeepEqual(c.acme, change.acme)
	c.mu.Unlock()
	if same {
		change.manager = c.manager.Load()
		return change, nil
	}
	change.manager, err = acme.New(c.options(change.acme))
	return change, err
}

// options returns the options of a manager.
func (c *certificates) options(a *secure.ACME) acme.Options {
	o := acme.Options{
		Names: a.Domains, Directory: a.Directory, Email: a.Email, Storage: a.Storage,
		HTTP: a.HTTP, TLSALPN: a.ALPN, DNS: acme.Hook(a.Hook), DNSForAll: a.DNS,
		Log: c.note,
	}
	if len(a.Roots) > 0 {
		o.Roots = x509.NewCertPool()
		for _, root := range a.Roots {
			o.Roots.AddCert(root)
		}
	}
	return o
}

// abandon ends the manager that was made for nothing.
func (c *certificatesChange) abandon() {
	if c.manager != nil && c.manager != c.certificates.manager.Load() {
		c.manager.Stop()
	}
}

// apply makes the change.
func (c *certificatesChange) apply() {
	all := c.certificates
	all.mu.Lock()
	defer all.mu.Unlock()
	before := all.manager.Swap(c.manager)
	all.files, all.acme = c.files, c.acme
	all.useStore()
	if before == c.manager {
		return
	}
	if before != nil {
		all.stopping.Go(before.Stop)
	}
	if all.running && c.manager != nil {
		c.manager.Start()
	}
}

// useStore replaces the certificates of the store. c.mu must be held.
func (c *certificates) useStore() {
	if m := c.manager.Load(); m != nil {
		c.store.Use(c.files.All(), m)
	} else {
		c.store.Use(c.files.All(), nil) // a nil interface
	}
}

// certificateInterval is the interval at which the files are examined.
const certificateInterval = time.Second

// run obtains certificates, and replaces those whose files change, until ctx ends.
func (c *certificates) run(ctx context.Context) {
	c.mu.Lock()
	c.running = true
	if m := c.manager.Load(); m != nil {
		m.Start()
	}
	c.mu.Unlock()
	defer c.end()
	tick := time.NewTicker(certificateInterval)
	defer tick.Stop()
	c.noteExpiry(time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c.refresh(ctx)
			c.noteExpiry(now)
		}
	}
}

// end stops to obtain certificates.
func (c *certificates) end() {
	if m := c.manager.Load(); m != nil {
		m.Stop()
	}
	c.stopping.Wait()
}

// Events of certificates. Package acme has more.
const (
	eventCertReplaced    = "certificate replaced"
	eventCertNotReplaced = "certificate not replaced"
	eventCertExpires     = "certificate expires soon"
	eventCertInvalid     = "certificate not valid now"
)

// refresh reads the files again that have changed. It does not hold c.mu while it reads, because
// a disk that hangs would hold up /metrics too.
func (c *certificates) refresh(ctx context.Context) {
	c.mu.Lock()
	before := c.files
	c.mu.Unlock()
	var files *certs.Files
	var changes []certs.Change
	if abandon.Call(ctx, func() error { files, changes = before.Refresh(); return nil }) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files != before {
		return // a reload has read them
	}
	c.files = files
	replaced := false
	for _, change := range changes {
		if change.Err != nil {
			c.logger().Error(eventCertNotReplaced).Str("file", change.Pair.Cert).Err(change.Err).Send()
			continue
		}
		replaced = true
		delete(c.noted, change.Pair.Cert)
		c.logger().Info(eventCertReplaced).Str("file", change.Pair.Cert).Strs("names", certs.Names(change.Cert.Leaf)).
			Time("expires_at", change.Cert.Leaf.NotAfter).Send()
	}
	if replaced {
		c.useStore()
	}
}

// note logs an event of ACME.
func (c *certificates) note(e acme.Event) {
	var event log.Event
	switch {
	case e.Level >= slog.LevelError:
		event = c.logger().Error(e.Message)
	case e.Level >= slog.LevelWarn:
		event = c.logger().Warn(e.Message)
	case e.Level >= slog.LevelInfo:
		event = c.logger().Info(e.Message)
	default:
		event = c.logger().Debug(e.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		event = event.Any(name, e.Fields[name])
	}
	if e.Err != nil {
		event = event.Err(e.Err)
	}
	event.Send()
}

// acmeSource is the source of a certificate that is not from a file.
const acmeSource = "acme"

// each calls f with each certificate in use: its first name, its source, which is a file or
// acmeSource, and the certificate itself. c.mu must be held.
func (c *certificates) each(f func(name, source string, leaf *x509.Certificate)) {
	for pair, cert := range c.files.All() {
		f(certs.Names(cert.Leaf)[0], pair.Cert, cert.Leaf)
	}
	m := c.manager.Load()
	if m == nil {
		return
	}
	for _, name := range m.Names() {
		if cert := m.Certificate(name); cert != nil {
			f(name, acmeSource, cert.Leaf)
		}
	}
}

// expiryInterval is the interval of the events about a certificate that ends soon.
const expiryInterval = 24 * time.Hour

// noteExpiry logs the certificates that end soon, or that are not valid.
func (c *certificates) noteExpiry(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(func(name, source string, leaf *x509.Certificate) {
		complaint := certs.Complaint(leaf, now)
		soon := leaf.NotAfter.Sub(now) < certs.Notice(leaf)
		key := source
		if source == acmeSource {
			key += " " + name
		}
		if complaint == "" && !soon || now.Sub(c.noted[key]) < expiryInterval {
			return
		}
		c.noted[key] = now
		e := c.logger().Warn(eventCertExpires)
		if complaint != "" {
			e = c.logger().Error(eventCertInvalid)
		}
		e.Str("file", source).Strs("names", certs.Names(leaf)).Time("valid_from", leaf.NotBefore).
			Time("expires_at", leaf.NotAfter).Send()
	})
}

var certificateExpiry = prometheus.NewDesc("weir_tls_certificate_expiry_timestamp_seconds",
	"End of the lifetime of a certificate, by its first name and its file, or acme.", []string{"name", "file"}, nil)

// Describe implements prometheus.Collector.
func (c *certificates) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *certificates) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(func(name, source string, leaf *x509.Certificate) {
		metric.Sink(ch).Gauge(certificateExpiry, float64(leaf.NotAfter.Unix()), name, source)
	})
}
