package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/weirhq/weir/internal/redisurl"
)

// maxIdle is the number of unused connections to a server that are kept.
const maxIdle = 4

// servers are the servers of a URL and, of a cluster, those that they name.
//
// A call goes to a server of the URL, and if the server says that another node has the slot of its keys, to that one.
// So a single server and a cluster need no other notation and no other rights.
type servers struct {
	url     *redisurl.URL
	timeout time.Duration // of making a connection

	mu     sync.Mutex
	closed bool
	first  int                     // index of the server of the URL for slots that are not known
	slots  map[uint16]string       // their nodes
	idle   map[string][]redis.Conn // by address
}

func newServers(url *redisurl.URL, timeout time.Duration) *servers {
	return &servers{url: url, timeout: timeout, slots: make(map[uint16]string), idle: make(map[string][]redis.Conn)}
}

// of returns the address of the server for a call.
func (s *servers) of(c *call) string {
	if c.node != "" {
		return c.node
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) > 0 { // it is a cluster
		if address, ok := s.slots[slot(c.keys[0])]; ok {
			return address
		}
	}
	return s.url.Servers[s.first]
}

// moved remembers the node that has the slot of a call.
func (s *servers) moved(c *call, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots[slot(c.keys[0])] = address
}

// failed sets the error of calls to a server that cannot be reached. Another one may have its slots later.
func (s *servers) failed(address string, calls []*call, err error) {
	for _, c := range calls {
		c.reply, c.err = nil, err
	}
	s.disconnect(address)
	s.mu.Lock()
	defer s.mu.Unlock()
	for slot, of := range s.slots {
		if of == address {
			delete(s.slots, slot)
		}
	}
	if s.url.Servers[s.first] == address {
		s.first = (s.first + 1) % len(s.url.Servers)
	}
}

var errClosed = errors.New("the store is closed")

// connect returns an unused connection, or makes one.
func (s *servers) connect(ctx context.Context, address string) (redis.Conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if idle := s.idle[address]; len(idle) > 0 {
		last := len(idle) - 1
		conn := idle[last]
		s.idle[address] = idle[:last]
		s.mu.Unlock()
		return conn, nil
	}
	s.mu.Unlock()
	return s.open(ctx, address)
}

// open makes a connection, on which the server runs commands.
func (s *servers) open(ctx context.Context, address string) (redis.Conn, error) {
	conn, err := redis.DialContext(ctx, "tcp", address, redis.DialContextFunc(s.dial), redis.DialReadTimeout(s.timeout),
		redis.DialWriteTimeout(s.timeout), redis.DialUsername(s.url.User), redis.DialPassword(s.url.Password),
		redis.DialDatabase(s.url.Database))
	if err != nil {
		return nil, err
	}
	// Without a password that is needed, a long command is a protocol error, and a short one says what is wrong.
	if _, err := redis.DoContext(conn, ctx, "TIME"); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// free keeps a connection for other calls.
func (s *servers) free(address string, conn redis.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.idle[address]) >= maxIdle {
		conn.Close()
		return
	}
	s.idle[address] = append(s.idle[address], conn)
}

// disconnect closes the unused connections to a server.
func (s *servers) disconnect(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.idle[address] {
		conn.Close()
	}
	delete(s.idle, address)
}

// close closes the unused connections. Those in use are closed at the end of their calls.
func (s *servers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, idle := range s.idle {
		for _, conn := range idle {
			conn.Close()
		}
	}
	clear(s.idle)
}

// dial makes a connection.
func (s *servers) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: s.timeout}
	if !s.url.TLS {
		return d.DialContext(ctx, network, address)
	}
	cfg, err := s.tlsConfig()
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{NetDialer: d, Config: cfg}).DialContext(ctx, network, address)
}

// tlsConfig reads the certificates.
func (s *servers) tlsConfig() (*tls.Config, error) {
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

// redirection returns the address in "SLOT HOST:PORT", which a node of a cluster replies for keys of another one. Without
// a host, or with ?, it is the one of the node.
func redirection(text, node string) string {
	_, address, _ := strings.Cut(text, " ")
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return address
	}
	host, port := address[:i], address[i+1:] // an address of IPv6 has no brackets
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(node)
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// slot returns the slot of a key, as the specification of Redis Cluster defines it: CRC-16/XMODEM of the text between
// the first { and the next }, or of the whole key if that text is missing or empty, modulo 16384.
func slot(key string) uint16 {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}
