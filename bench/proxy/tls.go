package proxy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

func (w Work) hasTLS() bool { return w.TLS || w.Handshakes }

// clientTLS accepts the certificate of any door. X25519 is the key exchange of every door's handshakes: with its
// default for clients, crypto/tls would choose a post-quantum one that not every door has.
var clientTLS = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13,
	CurvePreferences: []tls.CurveID{tls.X25519}}

// client makes the single requests of the bench.
var client = &http.Client{Transport: &http.Transport{TLSClientConfig: clientTLS}}

// writeCertificate writes a self-signed ECDSA P-256 certificate for 127.0.0.1 with its key.
func writeCertificate(dir string) (cert, key string, err error) {
	cert, key = filepath.Join(dir, "door.pem"), filepath.Join(dir, "door.key")
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 90)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return "", "", err
	}
	for file, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			return "", "", err
		}
	}
	return cert, key, nil
}

// shakeHands makes full handshakes over n connections at a time for d. A handshake counts as a request.
func shakeHands(ctx context.Context, addr string, n int, d time.Duration) (load, error) {
	ctx, cancel := context.WithTimeout(ctx, d+10*time.Second)
	defer cancel()
	began := time.Now()
	took, errs := make([][]time.Duration, n), make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			for time.Since(began) < d && errs[i] == nil {
				start := time.Now()
				errs[i] = shakeHand(ctx, addr)
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return load{}, err
		}
	}
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	return load{requests: len(all), perSecond: float64(len(all)) / time.Since(began).Seconds(), p50: all[len(all)/2],
		p99: all[len(all)*99/100], p999: -1}, nil
}

// shakeHand makes a full handshake, reads the session tickets, and ends the connection in both directions.
func shakeHand(ctx context.Context, addr string) error {
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	c := tls.Client(nc, clientTLS)
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	if err := c.CloseWrite(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, c)
	return err
}
