package proxying

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/transport"
)

// An Endpoint describes a server of an upstream.
type Endpoint struct {
	// URL is http://host:port, https://host:port, or unix: and the path of a socket. It may end
	// with a base path, as in http://host:port/app and unix:/run/app.sock:/app, which is put
	// before the path of each request. All servers of an upstream have the same base path. The
	// URL identifies the server in events and metrics.
	URL string

	// Addr is the host:port to connect to. Empty means that of URL. Several servers may have the
	// same URL and different Addrs, such as the addresses of a name.
	Addr string

	// Weight is the share of the server, relative to the weights of the others. Zero means 1.
	Weight int

	// Backup keeps the server for the time when no other one of the upstream can be used.
	Backup bool

	// Unresolved means that no address of the name in URL is known yet. It adds no server.
	Unresolved bool
}

// newServer returns the server of an endpoint, and its base path.
func newServer(e Endpoint) (s *Server, base string, err error) {
	if text, ok := strings.CutPrefix(e.URL, transport.UnixPrefix); ok {
		return newUnixServer(e, text)
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, "", fmt.Errorf("server %q: %w", e.URL, err)
	}
	base = strings.TrimSuffix(u.EscapedPath(), "/")
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "", fmt.Errorf("server %q: its scheme must be http or https", e.URL)
	case u.Hostname() == "":
		return nil, "", fmt.Errorf("server %q: it names no host", e.URL)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || !validBase(base):
		return nil, "", fmt.Errorf("server %q: it must be %s://host:port, perhaps with a path", e.URL, u.Scheme)
	}
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	s = &Server{url: u.Scheme + "://" + addr + base + fragment(addr, e.Addr), conns: pool.Pool{Addr: cmp.Or(e.Addr, addr)}}
	if u.Scheme == "https" {
		s.tlsHost = u.Hostname()
	}
	return s, base, nil
}

// fragment returns the part of the URL of a server that distinguishes the addresses of a name:
// "#" and the address, without the port if that is the URL's.
func fragment(own, addr string) string {
	_, port, _ := net.SplitHostPort(own)
	switch host, addrPort, err := net.SplitHostPort(addr); {
	case addr == "" || addr == own:
		return ""
	case err == nil && addrPort == port:
		return "#" + host
	}
	return "#" + addr
}

// newUnixServer is newServer for a Unix socket. text is the URL after its prefix.
func newUnixServer(e Endpoint, text string) (s *Server, base string, err error) {
	path, base, _ := strings.Cut(text, ":")
	base = strings.TrimSuffix(base, "/")
	if path == "" || e.Addr != "" || !validBase(base) {
		return nil, "", fmt.Errorf("server %q: it must be unix:PATH or unix:PATH:/BASE, without an address", e.URL)
	}
	s = &Server{url: transport.UnixPrefix + path, conns: pool.Pool{Addr: transport.UnixPrefix + path}}
	if base != "" {
		s.url += ":" + base
	}
	return s, base, nil
}

// validBase reports whether a base path can be put before the target of a request.
func validBase(base string) bool {
	return base == "" || base[0] == '/' && !strings.ContainsAny(base, "?# ") && httpsyntax.IsPlain(base)
}
