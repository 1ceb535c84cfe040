package request

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// An Origin is the scheme, host and port of a URL.
type Origin struct {
	Scheme string // http or https
	Host   string // a name or an IP address, without brackets
	port   string // always a number
}

// Address returns the host and port to dial.
func (o Origin) Address() string { return net.JoinHostPort(o.Host, o.port) }

func (o Origin) String() string { return o.Scheme + "://" + o.HostPort() }

// HostPort returns the value of the Host field. It omits the scheme's default
// port, and an IPv6 zone, which has a meaning only on this machine (RFC 6874
// section 1).
func (o Origin) HostPort() string {
	host, _, _ := strings.Cut(o.Host, "%")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.port == defaultPort(o.Scheme) {
		return host
	}
	return host + ":" + o.port
}

// Equal compares two origins by the rules of RFC 9110 section 4.2.3.
func (o Origin) Equal(p Origin) bool {
	return o.Scheme == p.Scheme && strings.EqualFold(o.Host, p.Host) && o.port == p.port
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// A ColumnError is a mistake at a column of a text. Columns are bytes, from 1.
type ColumnError struct {
	Column int
	Why    error
}

func (e *ColumnError) Error() string { return fmt.Sprintf("column %d: %v", e.Column, e.Why) }
func (e *ColumnError) Unwrap() error { return e.Why }

// ErrorAt returns a ColumnError. The offset is in bytes, from 0.
func ErrorAt(offset int, format string, args ...any) error {
	return &ColumnError{offset + 1, fmt.Errorf(format, args...)}
}

// Shift adds an offset to the column of an error, because the text with the
// mistake is part of a longer one.
func Shift(err error, by int) error {
	if e, ok := errors.AsType[*ColumnError](err); ok {
		return &ColumnError{e.Column + by, e.Why}
	}
	return err
}

// A Location is the part of a URL before the path. The path is neither cleaned
// nor decoded, because servers are tested with unusual ones.
type Location struct {
	Origin    Origin
	Path      int    // offset in the URL of the path, or of the text after the authority
	Userinfo  string // credentials of Basic authentication, in base64; "" without any
	authority int    // offset in the URL
}

// ParseLocation reads a URL up to its path.
func ParseLocation(text string) (Location, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case strings.HasPrefix(text, "/"):
		return Location{}, ErrorAt(0, "%q is a path without an origin; write http://127.0.0.1:8080%[1]s, or another host", text)
	case !ok:
		return Location{}, ErrorAt(0, "the URL %q has no scheme; write http://%s", text, text)
	}
	l := Location{Origin: Origin{Scheme: strings.ToLower(scheme)}, authority: len(scheme) + len("://")}
	if l.Origin.Scheme != "http" && l.Origin.Scheme != "https" {
		return Location{}, ErrorAt(0, "the URL's scheme is %q; it may be http or https", scheme)
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	l.Path = l.authority + len(authority)
	if i := strings.Index(authority, "{{"); i >= 0 {
		return Location{}, ErrorAt(l.authority+i,
			"the URL's host cannot have a template; all requests go to one origin")
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		var err error
		if l.Userinfo, err = basic(authority[:i]); err != nil {
			return Location{}, Shift(err, l.authority)
		}
		authority = authority[i+1:]
	}
	if err := l.Origin.setAuthority(authority); err != nil {
		return Location{}, Shift(err, l.Path-len(authority))
	}
	return l, nil
}

// basic encodes a URL's user and password (RFC 7617).
func basic(userinfo string) (string, error) {
	user, password, _ := strings.Cut(userinfo, ":")
	var plain [2]string
	for i, s := range []string{user, password} {
		var err error
		if plain[i], err = url.PathUnescape(s); err != nil {
			return "", ErrorAt(0, "the URL's user and password: %w", err)
		}
	}
	return base64.StdEncoding.EncodeToString([]byte(plain[0] + ":" + plain[1])), nil
}

func (o *Origin) setAuthority(authority string) error {
	host, port := authority, ""
	if end := strings.LastIndexByte(authority, ']'); strings.HasPrefix(authority, "[") && end > 0 {
		host, port = authority[1:end], authority[end+1:]
		address, err := netip.ParseAddr(strings.Replace(host, "%25", "%", 1))
		if err != nil || !address.Is6() {
			return ErrorAt(1, "%q is not an IPv6 address", host)
		}
		host = address.String()
	} else {
		if i := strings.IndexByte(authority, ':'); i >= 0 {
			host, port = authority[:i], authority[i:]
		}
		var err error
		if host, err = hostName(host); err != nil {
			return err
		}
	}
	o.Host, o.port = host, defaultPort(o.Scheme)
	if port == "" || port == ":" {
		return nil
	}
	offset := len(authority) - len(port)
	n, err := strconv.ParseUint(strings.TrimPrefix(port, ":"), 10, 16)
	if err != nil || port[0] != ':' || n == 0 {
		return ErrorAt(offset, "%q is not a port; it may be :1 to :65535", port)
	}
	o.port = strconv.FormatUint(n, 10)
	return nil
}

// hostName returns a host's name in ASCII, as browsers send it (UTS #46). It
// rejects bytes that no name may have. It does not check that the name exists.
func hostName(host string) (string, error) {
	if host == "" {
		return "", ErrorAt(0, "the URL has no host")
	}
	if strings.ContainsFunc(host, func(c rune) bool { return c >= utf8.RuneSelf }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", ErrorAt(0, "the host %q is not a name: %w", host, err)
		}
		host = ascii
	}
	for i := range len(host) {
		if !isUnreserved(host[i]) {
			return "", ErrorAt(i, "a host's name cannot hold %q", host[i])
		}
	}
	return host, nil
}
