package load

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

// An origin is where a program's requests go: one scheme, host and port.
type origin struct {
	scheme string // http or https
	host   string // a name or an IP address, without brackets
	port   string // always a number
}

// address is what to dial.
func (o origin) address() string { return net.JoinHostPort(o.host, o.port) }

func (o origin) String() string { return o.scheme + "://" + o.hostport() }

// hostport is what the Host field says: the port is left out when it is the
// scheme's own, and so is an IPv6 zone, which means something on this machine
// alone (RFC 6874 section 1).
func (o origin) hostport() string {
	host, _, _ := strings.Cut(o.host, "%")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.port == defaultPort(o.scheme) {
		return host
	}
	return host + ":" + o.port
}

// equal compares two origins as RFC 9110 section 4.2.3 has it.
func (o origin) equal(p origin) bool {
	return o.scheme == p.scheme && strings.EqualFold(o.host, p.host) && o.port == p.port
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// A columnError is a mistake at a place of a text. Columns are bytes, from 1.
type columnError struct {
	column int
	why    error
}

func (e *columnError) Error() string { return fmt.Sprintf("column %d: %v", e.column, e.why) }
func (e *columnError) Unwrap() error { return e.why }

// at makes an error of a place that is given from 0.
func at(offset int, format string, args ...any) error {
	return &columnError{offset + 1, fmt.Errorf(format, args...)}
}

// shift says an error's column in the text that the faulty one begins in, so
// many bytes after its start.
func shift(err error, by int) error {
	if e, ok := errors.AsType[*columnError](err); ok {
		return &columnError{e.column + by, e.why}
	}
	return err
}

// A location is a Target's URL, taken apart. Nothing of the path is cleaned or
// decoded: odd ones are what servers are tested with.
type location struct {
	origin    origin
	authority int    // where it begins in the URL
	path      int    // where the path, or what follows the authority, begins
	userinfo  string // the credentials of Basic authentication, in base64; "" without
}

// parseLocation reads a URL up to its path.
func parseLocation(text string) (location, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return location{}, at(0, "the URL %q has no scheme; write http://%s", text, text)
	}
	l := location{origin: origin{scheme: strings.ToLower(scheme)}, authority: len(scheme) + len("://")}
	if l.origin.scheme != "http" && l.origin.scheme != "https" {
		return location{}, at(0, "the URL's scheme is %q; it may be http or https", scheme)
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	l.path = l.authority + len(authority)
	if i := strings.Index(authority, "{{"); i >= 0 {
		return location{}, at(l.authority+i, "a template cannot stand in the URL's host; all requests go to one origin")
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		var err error
		if l.userinfo, err = basic(authority[:i]); err != nil {
			return location{}, shift(err, l.authority)
		}
		authority = authority[i+1:]
	}
	if err := l.origin.setAuthority(authority); err != nil {
		return location{}, shift(err, l.path-len(authority))
	}
	return l, nil
}

// basic encodes a URL's user and password, RFC 7617.
func basic(userinfo string) (string, error) {
	user, password, _ := strings.Cut(userinfo, ":")
	var plain [2]string
	for i, s := range []string{user, password} {
		var err error
		if plain[i], err = url.PathUnescape(s); err != nil {
			return "", at(0, "the URL's user and password: %w", err)
		}
	}
	return base64.StdEncoding.EncodeToString([]byte(plain[0] + ":" + plain[1])), nil
}

func (o *origin) setAuthority(authority string) error {
	host, port := authority, ""
	if end := strings.LastIndexByte(authority, ']'); strings.HasPrefix(authority, "[") && end > 0 {
		host, port = authority[1:end], authority[end+1:]
		address, err := netip.ParseAddr(strings.Replace(host, "%25", "%", 1))
		if err != nil || !address.Is6() {
			return at(1, "%q is no IPv6 address", host)
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
	o.host, o.port = host, defaultPort(o.scheme)
	if port == "" || port == ":" {
		return nil
	}
	offset := len(authority) - len(port)
	n, err := strconv.ParseUint(strings.TrimPrefix(port, ":"), 10, 16)
	if err != nil || port[0] != ':' || n == 0 {
		return at(offset, "%q is no port; it may be :1 to :65535", port)
	}
	o.port = strconv.FormatUint(n, 10)
	return nil
}

// hostName returns a host's name in ASCII, as browsers send it (UTS #46). It
// refuses bytes that no name has; resolvers know which of the rest exist.
func hostName(host string) (string, error) {
	if host == "" {
		return "", at(0, "the URL has no host")
	}
	if strings.ContainsFunc(host, func(c rune) bool { return c >= utf8.RuneSelf }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", at(0, "the host %q is no name: %w", host, err)
		}
		host = ascii
	}
	for i := range len(host) {
		if !isUnreserved(host[i]) {
			return "", at(i, "a host's name cannot hold %q", host[i])
		}
	}
	return host, nil
}

// Rebase returns the targets with their scheme, host and port replaced by the
// origin's, such as "http://127.0.0.1:8080", for a file that was recorded
// elsewhere or with several servers. What a URL has of user and password is
// replaced by the origin's, too; Host fields in Header stay.
func Rebase(targets []Target, origin string) ([]Target, error) {
	to, err := parseLocation(origin)
	if err != nil {
		return nil, fmt.Errorf("origin %q: %w", origin, err)
	}
	if rest := origin[to.path:]; rest != "" && rest != "/" {
		return nil, fmt.Errorf("origin %q: %w", origin, at(to.path, "%q is more than an origin; targets keep their paths", rest))
	}
	rebased := make([]Target, len(targets))
	for i, t := range targets {
		l, err := parseLocation(t.URL)
		if err != nil {
			return nil, fmt.Errorf("load: target %d: URL %w", i+1, err)
		}
		rebased[i] = t
		rebased[i].URL = origin[:to.path] + t.URL[l.path:]
	}
	return rebased, nil
}
