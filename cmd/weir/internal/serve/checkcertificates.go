package serve

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirhq/weir/front/config"
)

// A certificateReport describes a certificate of the configuration.
type certificateReport struct {
	File      string    `json:"file"`
	Names     []string  `json:"names"`
	ExpiresAt time.Time `json:"expires_at"`
}

// certificatesOf returns the certificates of a configuration.
func certificatesOf(cfg *config.Config) []certificateReport {
	all := []certificateReport{}
	if cfg.TLS == nil {
		return all
	}
	for _, c := range cfg.TLS.Certificates {
		names := c.Leaf.DNSNames
		for _, ip := range c.Leaf.IPAddresses {
			names = append(names, ip.String())
		}
		all = append(all, certificateReport{c.Cert, names, c.Leaf.NotAfter})
	}
	return all
}

// printCertificates prints a line for each certificate.
func printCertificates(w io.Writer, cfg *config.Config) {
	for _, c := range certificatesOf(cfg) {
		fmt.Fprintf(w, "certificate %s: %s; until %s (%s)\n", c.File, strings.Join(c.Names, ", "),
			c.ExpiresAt.UTC().Format(time.DateTime+" UTC"), daysUntil(c.ExpiresAt))
	}
}

// daysUntil returns the time until t for people, such as "39 days".
func daysUntil(t time.Time) string {
	left := time.Until(t)
	switch days := int(left.Abs() / (24 * time.Hour)); {
	case days < 2:
		return fmt.Sprintf("%.0f hours", left.Hours())
	case left < 0:
		return fmt.Sprintf("%d days ago", days)
	default:
		return fmt.Sprintf("%d days", days)
	}
}
