package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// Options are the settings of an [Upstream]. What its fields refer to must not change once it is
// used.
type Options struct {
	// Servers are the first servers. Without one, requests get 502 until [Upstream.SetServers].
	Servers []Server

	// HTTP2 is HTTP/2, by ALPN with https servers and by prior knowledge with others. Upgrades
	// are not passed on then. The default is HTTP/1.1.
	HTTP2 bool

	TLS TLS // of https servers

	// ProxyProtocol is the version of the PROXY protocol, 1 or 2, by which the servers get the
	// address of the client. 0 sends no header. Each request then has a connection of its own,
	// so it excludes HTTP2.
	ProxyProtocol int

	// Timeout limits the time that a server may be silent, before its response and between two
	// parts of it. 0 means 30 seconds.
	Timeout time.Duration

	// ConnectRetry limits the time in which a request retries to connect if no server accepts a
	// connection. The pauses between the attempts grow. Nothing was sent yet, so this is safe
	// with any method. 0 means no retry.
	ConnectRetry time.Duration

	// Retry determines when a request is sent again.
	Retry Retry

	// MaxFields limits the fields in the head of a response, and those in its trailers. A
	// response with more is malformed. 0 means 256.
	MaxFields int

	// Balance is the policy by which requests choose a server. HashKey belongs to Hash.
	Balance Policy
	HashKey HashKey

	// Sticky, if not nil, keeps clients at their servers.
	Sticky *Sticky

	// SlowStart is the time in which the share of a server grows from nothing to its weight after
	// the server was added, or can be used again. The first servers of an upstream have no slow
	// start. 0 means none.
	SlowStart time.Duration

	// Limit limits the requests at each server.
	Limit Limit
}

// A Server is one of the equivalent servers of an upstream.
type Server struct {
	// URL is http://host:port, https://host:port, or unix: and the path of a socket. It may end
	// with a base path, as in http://host:port/app and unix:/run/app.sock:/app, which is put
	// before the path of each request. All servers of an upstream have the same base path.
	URL string

	// Addr is the host:port to connect to. Empty means that of URL. Several servers may have the
	// same URL and different Addrs, such as the addresses of a name.
	Addr string

	// Weight is the share of the server, relative to the weights of the others. 0 means 1.
	Weight int

	// Backup keeps the server for the time when no other one of the upstream can be used.
	Backup bool
}

// TLS configures the connections to https servers. Their certificates are always verified. The
// zero value trusts the roots of the system.
type TLS struct {
	// Roots are the certificates that are trusted. Nil means those of the system.
	Roots *x509.CertPool

	// Certificate proves the identity of this process to the servers. Nil for none.
	Certificate *tls.Certificate

	// Name is the name that the servers are asked for (SNI) and that their certificates must
	// have. Empty means the host of a server's URL.
	Name string
}

// Sticky keeps clients at the servers that their first requests were sent to, with a cookie.
type Sticky struct {
	Cookie string // its name

	// MaxAge is how long browsers keep the cookie, in whole seconds. 0 keeps it until the browser
	// ends.
	MaxAge time.Duration

	// Secret is the key of the cookie's value. Proxies with the same servers and the same name of
	// the upstream have the same Secret, so that each of them recognises the cookies of the
	// others.
	Secret []byte
}

// Limit limits the requests at each server of an upstream. The zero value sets no limit.
type Limit struct {
	// Max is the number of requests that may be at a server at the same time. Over HTTP/1, it is
	// also the number of connections to the server, including unused ones. 0 is no limit.
	Max int

	// Queue is the number of requests that may wait until a server has a free place. Others fail
	// with kind QueueFull.
	Queue int

	// Wait is the longest time that a request waits. It then fails with kind QueueTimeout.
	Wait time.Duration
}

// inner returns the options of package proxying.
func (o *Options) inner() (proxying.Options, error) {
	for _, d := range []struct {
		name string
		time.Duration
	}{{"Timeout", o.Timeout}, {"Retry.TryTimeout", o.Retry.TryTimeout}} {
		if d.Duration < 0 {
			return proxying.Options{}, fmt.Errorf("%s is %v, want at least 0", d.name, d.Duration)
		}
	}
	return proxying.Options{
		Servers: endpoints(o.Servers), HTTP2: o.HTTP2, TLS: proxying.TLS(o.TLS), ProxyProtocol: o.ProxyProtocol,
		ConnectRetry: o.ConnectRetry, Retry: o.Retry.inner(), MaxFields: o.MaxFields,
		Balance: proxying.Policy(o.Balance), HashKey: o.HashKey.inner(), Sticky: (*proxying.Sticky)(o.Sticky),
		SlowStart: o.SlowStart, Limit: proxying.ServerLimit(o.Limit),
	}, nil
}

func endpoints(servers []Server) []proxying.Endpoint {
	all := make([]proxying.Endpoint, len(servers))
	for i, s := range servers {
		all[i] = proxying.Endpoint{URL: s.URL, Addr: s.Addr, Weight: s.Weight, Backup: s.Backup}
	}
	return all
}
