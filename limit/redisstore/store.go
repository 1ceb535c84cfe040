// Package redisstore stores the limits that replicas share in a server of Redis or Valkey, or
// in a cluster. It needs version 5 or later.
//
//	store, err := redisstore.Open("redis://:password@10.0.0.5:6379/1")
//	...
//	defer store.Close()
//	leaser := lease.New(store, lease.Options{Fleet: "shop"})
//
// # URLs
//
//	redis://[[user]:password@]host[:port][/database][?timeout=250ms]
//	redis://[[user]:password@]host[:port],host[:port],...
//	rediss://...?ca=ca.pem&cert=weir.pem&key=weir.key
//
// Several servers are nodes of one cluster; one node is enough, because it names the others.
// rediss is TLS. The files are read for each connection, so that new certificates are used.
package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/weirhq/weir/internal/redisurl"
	"github.com/weirhq/weir/limit/lease"
)

const (
	defaultTimeout = 250 * time.Millisecond
	bufferSize     = 64 << 10 // of each direction of a connection
)

// A Store is a [lease.Store] in a server of Redis or Valkey. Goroutines may share it.
type Store struct {
	url     *redisurl.URL
	timeout time.Duration

	mu     sync.Mutex // guards the fields below, and is held while the first connection is made
	client valkey.Client
	closed bool

	exchange, hold, join *script
}

// A script is a script on the server.
type script struct{ text, hash string }

// Open returns the store with a URL. It connects with the first call of a method.
func Open(url string) (*Store, error) {
	u, err := redisurl.Parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{url: u, timeout: defaultTimeout, exchange: newScript(exchangeScript), hold: newScript(holdScript),
		join: newScript(joinScript)}
	if u.Timeout != 0 {
		s.timeout = u.Timeout
	}
	return s, nil
}

var errClosed = errors.New("the store is closed")

// connected returns the client. If there is none, it connects.
func (s *Store) connected() (valkey.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.client != nil {
		return s.client, nil
	}
	client, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: s.url.Servers, Username: s.url.User, Password: s.url.Password, SelectDB: s.url.Database,
		ForceSingleClient: s.url.Database != 0, // a cluster has no databases
		Dialer:            net.Dialer{Timeout: s.timeout}, ConnWriteTimeout: 2 * s.timeout, DialCtxFn: s.dial,
		DisableCache: true, DisableRetry: true, AlwaysRESP2: true, ClientSetInfo: valkey.DisableClientSetInfo,
		ReadBufferEachConn: bufferSize, WriteBufferEachConn: bufferSize, PipelineMultiplex: 1,
	})
	if err != nil {
		return nil, err
	}
	s.client = client
	return client, nil
}

// disconnect closes a client. The next call connects again.
func (s *Store) disconnect(client valkey.Client) {
	s.mu.Lock()
	if s.client == client {
		s.client = nil
	}
	s.mu.Unlock()
	client.Close()
}

// dial makes a connection.
func (s *Store) dial(ctx context.Context, address string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
	if !s.url.TLS {
		return d.DialContext(ctx, "tcp", address)
	}
	cfg, err := s.tlsConfig()
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{NetDialer: d, Config: cfg}).DialContext(ctx, "tcp", address)
}

// tlsConfig reads the certificates.
func (s *Store) tlsConfig() (*tls.Config, error) {
	cfg := &tls.Config{}
	if s.url.CA != "" {
		pem, err := os.ReadFile(s.url.CA)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no certificate", s.url.CA)
		}
	}
	if s.url.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.url.Cert, s.url.Key)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// Exchange implements lease.Store.
func (s *Store) Exchange(ctx context.Context, batch []lease.Exchange) error {
	calls := make([]call, len(batch))
	for i, x := range batch {
		calls[i] = call{script: s.exchange, keys: []string{x.Key}, args: []string{
			x.Replica + ":" + strconv.FormatInt(x.Lease, 10), micros(x.Every), micros(x.Fill), strconv.FormatInt(x.Taken, 10),
			strconv.FormatInt(x.Used, 10), strconv.FormatInt(x.Want, 10), decimal(x.Weight), decimal(x.Share),
			strconv.Itoa(x.Replicas), decimal(x.Least), decimal(x.Left), micros(lease.ShareTTL),
		}}
	}
	replies, err := s.run(ctx, calls)
	if err != nil {
		return err
	}
	failed := 0
	for i := range batch {
		x := &batch[i]
		var r []int64
		if r, x.Err = replies[i].AsIntSlice(); x.Err == nil && len(r) != 6 {
			x.Err = fmt.Errorf("the script returned %d values", len(r))
		}
		if x.Err != nil {
			if _, answered := valkey.IsValkeyErr(x.Err); !answered {
				failed++
				err = x.Err
			}
			continue
		}
		x.Taken, x.Share, x.Remaining, x.Total = r[0], float64(r[1])/1e9, r[2], r[5]
		x.Reset, x.Retry = time.Duration(r[3])*time.Microsecond, time.Duration(r[4])*time.Microsecond
	}
	if failed < len(batch) { // a node of a cluster may be down
		return nil
	}
	return err
}

// micros returns a duration in microseconds as a decimal number.
func micros(d time.Duration) string { return decimal(float64(d) / float64(time.Microsecond)) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Hold implements lease.Store.
func (s *Store) Hold(ctx context.Context, h *lease.Hold) error {
	replies, err := s.run(ctx, []call{{
		script: s.hold, keys: []string{"{" + h.Key + "}", "{" + h.Key + "}:ends"}, // in one slot of a cluster
		args: []string{h.Replica, strconv.Itoa(h.Max), strconv.Itoa(h.Used), strconv.Itoa(h.Want), micros(h.TTL),
			strconv.Itoa(h.Granted), strconv.Itoa(h.Left), micros(lease.AbsentTime)},
	}})
	if err != nil {
		return err
	}
	granted, err := replies[0].AsInt64()
	h.Granted = int(granted)
	return err
}

// Join implements lease.Store.
func (s *Store) Join(ctx context.Context, j *lease.Join) error {
	silent := "-1"
	if !j.Leave {
		silent = micros(j.Silent)
	}
	replies, err := s.run(ctx, []call{{script: s.join, keys: []string{j.Key}, args: []string{
		j.Replica, silent, micros(lease.AbsentTime), micros(lease.ShareTTL), micros(lease.ReplicaTTL),
	}}})
	if err != nil {
		return err
	}
	r, err := replies[0].AsIntSlice()
	if err == nil && len(r) != 3 {
		err = fmt.Errorf("the script returned %d values", len(r))
	}
	if err == nil {
		j.Replicas, j.Absent, j.Gone = int(r[0]), int(r[1]), int(r[2])
	}
	return err
}

// Close closes the connections.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.client != nil {
		s.client.Close()
	}
	return nil
}
