package failure

import (
	"errors"
	"net"
	"reflect"
	"slices"
)

// Counts has the number of failures of each kind, and the first error.
type Counts struct {
	counts   [kinds]int64
	errs     [kinds]error
	examples [kinds]string // texts of errs
}

// Add counts a failure.
func (f *Counts) Add(k Kind, err error) {
	if f.counts[k]++; f.counts[k] == 1 {
		f.errs[k], f.examples[k] = err, err.Error()
	}
}

// Merge adds the failures of g.
func (f *Counts) Merge(g *Counts) {
	for k := range kinds {
		f.counts[k] += g.counts[k]
		if f.errs[k] == nil {
			f.errs[k], f.examples[k] = g.errs[k], g.examples[k]
		}
	}
}

// Sum returns the number of failures.
func (f *Counts) Sum() (n int64) {
	for _, c := range f.counts {
		n += c
	}
	return n
}

// First returns an error and its kind. ok is false if there is none.
func (f *Counts) First() (k Kind, err error, ok bool) {
	for k, err := range f.errs {
		if err != nil {
			return Kind(k), err, true
		}
	}
	return 0, nil, false
}

// CertificateRefused reports whether the server refused the client's certificate.
func (f *Counts) CertificateRefused() bool {
	return slices.ContainsFunc(f.errs[:], CertificateRefused)
}

// CertificateRefused reports whether an error is an alert of TLS by which servers
// refuse a client without a certificate, or with another one than they trust (RFC 8446,
// section 6.2). Before TLS 1.3 it is also handshake_failure. crypto/tls returns an alert
// as a uint8 of a type that it does not export.
func CertificateRefused(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return false
	}
	v := reflect.ValueOf(op.Err)
	if v.Kind() != reflect.Uint8 {
		return false
	}
	switch v.Uint() {
	case 40, 42, 43, 44, 45, 46, 48, 49, 116: // handshake_failure, bad_certificate to access_denied, certificate_required
		return true
	}
	return false
}

// Maps returns the counts and the examples by name of the kind.
func (f *Counts) Maps() (counts map[string]int64, examples map[string]string) {
	counts, examples = make(map[string]int64), make(map[string]string)
	for k, n := range f.counts {
		if n > 0 {
			counts[kindNames[k]], examples[kindNames[k]] = n, f.examples[k]
		}
	}
	return counts, examples
}
