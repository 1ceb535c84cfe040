package front

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/log"
)

// certificates are those of the TLS listeners. They are replaced when their files change.
type certificates struct {
	store  certs.Store
	logger func() *log.Logger

	mu    sync.Mutex
	files *certs.Files         // guarded by mu
	noted map[string]time.Time // guarded by mu: the last events about the end of a certificate, by its file
}

func newCertificates(logger func() *log.Logger) *certificates {
	return &certificates{logger: logger, files: new(certs.Files), noted: make(map[string]time.Time)}
}

// openCertificates reads the certificates of a configuration.
func openCertificates(cfg *config.Config) (*certs.Files, error) {
	var pairs []certs.Pair
	if cfg.TLS != nil {
		for _, c := range cfg.TLS.Certificates {
			pairs = append(pairs, certs.Pair{Cert: c.Cert, Key: c.Key})
		}
	}
	return certs.Open(pairs)
}

// use replaces all certificates.
func (c *certificates) use(f *certs.Files) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = f
	c.store.Use(f.All())
}

// certificateInterval is the interval at which the files are examined.
const certificateInterval = time.Second

// watch replaces certificates when their files change, until end is closed.
func (c *certificates) watch(end <-chan struct{}) {
	tick := time.NewTicker(certificateInterval)
	defer tick.Stop()
	c.noteExpiry(time.Now())
	for {
		select {
		case <-end:
			return
		case now := <-tick.C:
			c.refresh()
			c.noteExpiry(now)
		}
	}
}

// Events of certificates.
const (
	eventCertReplaced    = "certificate replaced"
	eventCertNotReplaced = "certificate not replaced"
	eventCertExpires     = "certificate expires soon"
	eventCertInvalid     = "certificate not valid now"
)

// refresh reads the files again that have changed.
func (c *certificates) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	replaced := false
	for _, change := range c.files.Refresh() {
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
		c.store.Use(c.files.All())
	}
}

// expiryInterval is the interval of the events about a certificate that ends soon.
const expiryInterval = 24 * time.Hour

// noteExpiry logs the certificates that end soon, or that are not valid.
func (c *certificates) noteExpiry(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for pair, cert := range c.files.All() {
		leaf, file := cert.Leaf, pair.Cert
		complaint := certs.Complaint(leaf, now)
		soon := leaf.NotAfter.Sub(now) < certs.Notice(leaf)
		if noted := c.noted[file]; complaint == "" && !soon || now.Sub(noted) < expiryInterval {
			continue
		}
		c.noted[file] = now
		e := c.logger().Warn(eventCertExpires)
		if complaint != "" {
			e = c.logger().Error(eventCertInvalid)
		}
		e.Str("file", file).Strs("names", certs.Names(leaf)).Time("valid_from", leaf.NotBefore).
			Time("expires_at", leaf.NotAfter).Send()
	}
}

var certificateExpiry = prometheus.NewDesc("weir_tls_certificate_expiry_timestamp_seconds",
	"End of the lifetime of a certificate, by its first name and its file.", []string{"name", "file"}, nil)

// Describe implements prometheus.Collector.
func (c *certificates) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *certificates) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for pair, cert := range c.files.All() {
		leaf := cert.Leaf
		metricsSink(ch).gauge(certificateExpiry, float64(leaf.NotAfter.Unix()), certs.Names(leaf)[0], pair.Cert)
	}
}
