package certs

import (
	"crypto/x509"
	"time"
)

// Complaint returns the reason why clients do not accept a certificate at a time, or "". It
// does not check who has issued the certificate.
func Complaint(cert *x509.Certificate, now time.Time) string {
	switch {
	case now.After(cert.NotAfter):
		return "has expired on " + cert.NotAfter.UTC().Format(time.DateOnly)
	case now.Before(cert.NotBefore):
		return "is valid only from " + cert.NotBefore.UTC().Format(time.DateTime+" UTC")
	}
	return ""
}

// longestNotice is the maximum of [Notice].
const longestNotice = 30 * 24 * time.Hour

// Notice returns how long before its end a certificate should have been renewed: a sixth of
// its lifetime, which is 15 of 90 days, but at most 30 days. ACME clients renew after two
// thirds of the lifetime.
func Notice(cert *x509.Certificate) time.Duration {
	return min(cert.NotAfter.Sub(cert.NotBefore)/6, longestNotice)
}
