package certs

import (
	"bytes"
	"crypto/tls"
	"iter"
	"os"
)

// Files are pairs of files with their certificates. They do not change: Refresh returns others.
// The zero value has none. Goroutines may share it.
type Files struct {
	files []*watchedPair
}

// A watchedPair is a pair of files and the certificate that was read from it.
type watchedPair struct {
	Pair
	cert *tls.Certificate
	read states // of the files when they were read
	last states // at the last Refresh
}

// states are those of the files of a pair; nil for a file that does not exist.
type states [2]os.FileInfo

// A Change is a pair of files that has changed: its new certificate, or the error of reading
// it, after which the pair keeps its certificate.
type Change struct {
	Pair
	Cert *tls.Certificate
	Err  error
}

// Open reads pairs of files.
func Open(pairs []Pair) (*Files, error) {
	f := new(Files)
	for _, p := range pairs {
		now := p.states()
		cert, err := Load(p)
		if err != nil {
			return nil, err
		}
		f.files = append(f.files, &watchedPair{Pair: p, cert: cert, read: now, last: now})
	}
	return f, nil
}

// All returns the pairs with their certificates, in their order.
func (f *Files) All() iter.Seq2[Pair, *tls.Certificate] {
	return func(yield func(Pair, *tls.Certificate) bool) {
		for _, w := range f.files {
			if !yield(w.Pair, w.cert) {
				return
			}
		}
	}
}

// Refresh reads the pairs again that have changed since they were read, and not since the
// call of Refresh that returned f: a program may be writing them. It returns the files for the next
// call, and their changes. A pair with the same certificate as before is not among them.
func (f *Files) Refresh() (next *Files, changes []Change) {
	next = new(Files)
	for _, before := range f.files {
		w := *before
		next.files = append(next.files, &w)
		now := w.states()
		settled := now.same(w.last)
		w.last = now
		if !settled || now.same(w.read) {
			continue
		}
		w.read = now
		cert, err := Load(w.Pair)
		if err == nil && sameChain(cert, w.cert) {
			continue
		}
		if err == nil {
			w.cert = cert
		}
		changes = append(changes, Change{w.Pair, cert, err})
	}
	return next, changes
}

func (p Pair) states() (now states) {
	for i, name := range [2]string{p.Cert, p.Key} {
		if info, err := os.Stat(name); err == nil {
			now[i] = info
		}
	}
	return now
}

func (s states) same(other states) bool {
	for i, a := range s {
		b := other[i]
		if a == nil || b == nil {
			if a != b {
				return false
			}
			continue
		}
		if !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
			return false
		}
	}
	return true
}

// sameChain reports whether two certificates have the same key and issuers.
func sameChain(a, b *tls.Certificate) bool {
	if len(a.Certificate) != len(b.Certificate) {
		return false
	}
	for i := range a.Certificate {
		if !bytes.Equal(a.Certificate[i], b.Certificate[i]) {
			return false
		}
	}
	return true
}
