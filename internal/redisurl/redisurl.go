// Package redisurl parses the URLs of servers of Redis or Valkey.
package redisurl

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A URL names a server, or the servers of a cluster:
//
//	redis[s]://[[user]:password@]host[:port][,host[:port]...][/database][?timeout=250ms&ca=ca.pem]
type URL struct {
	Servers        []string // host:port; several are nodes of one cluster
	TLS            bool
	User, Password string
	Database       int           // 0 with several servers
	Timeout        time.Duration // of a call; 0 is the default of the client

	// The files, in PEM format, with the certificates of authorities, the certificate of the
	// client, and its key. Empty for none.
	CA, Cert, Key string
}

const defaultPort = "6379"

// parameters are those of the query, in the order of String.
var parameters = []string{"timeout", "ca", "cert", "key"}

// Parse parses a URL. Its errors do not contain the password.
func Parse(text string) (*URL, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "redis" && scheme != "rediss" {
		return nil, errors.New("it does not begin with redis:// or rediss://")
	}
	u := &URL{TLS: scheme == "rediss"}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if err := u.setUser(authority[:at]); err != nil {
			return nil, err
		}
		authority = authority[at+1:]
	}
	for server := range strings.SplitSeq(authority, ",") {
		address, err := addressOf(server)
		if err != nil {
			return nil, err
		}
		if slices.Contains(u.Servers, address) {
			return nil, fmt.Errorf("the server %s occurs twice", address)
		}
		u.Servers = append(u.Servers, address)
	}
	if hasPath && path != "" {
		n, err := strconv.ParseUint(path, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("the database %q is not a number", path)
		}
		u.Database = int(n)
	}
	if u.Database != 0 && len(u.Servers) > 1 {
		return nil, errors.New("a cluster has no databases")
	}
	return u, u.setQuery(query)
}

// setUser sets the user and the password.
func (u *URL) setUser(info string) (err error) {
	user, password, ok := strings.Cut(info, ":")
	if !ok {
		return errors.New("there is a user, but no password: write redis://user:password@host")
	}
	u.User, err = url.PathUnescape(user)
	if err == nil {
		u.Password, err = url.PathUnescape(password)
	}
	if err != nil {
		return errors.New("the user or the password has a % that is not followed by two digits: write %25")
	}
	return nil
}

// addressOf returns the address of a server, with its port.
func addressOf(server string) (string, error) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		host, port, err = net.SplitHostPort(server + ":" + defaultPort)
	}
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || portErr != nil || number == 0 || strings.ContainsAny(host, " \t@/") {
		return "", fmt.Errorf("%q is not an address: write host:port, with a port from 1 to 65535", server)
	}
	return net.JoinHostPort(host, port), nil
}

// setQuery sets the parameters.
func (u *URL) setQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the part after ? is malformed")
	}
	for name, value := range values {
		switch {
		case !slices.Contains(parameters, name):
			return fmt.Errorf("it has no parameter %q, but %s", name, strings.Join(parameters, ", "))
		case len(value) > 1:
			return fmt.Errorf("the parameter %q occurs twice", name)
		case name == "timeout":
			u.Timeout, err = time.ParseDuration(value[0])
			if err != nil || u.Timeout < time.Millisecond {
				return fmt.Errorf("the timeout %q is not a duration of 1ms or more", value[0])
			}
		case !u.TLS:
			return fmt.Errorf("the parameter %q needs rediss://", name)
		}
	}
	u.CA, u.Cert, u.Key = values.Get("ca"), values.Get("cert"), values.Get("key")
	if u.Key != "" && u.Cert == "" {
		return errors.New("the key has no cert")
	}
	if u.Cert != "" && u.Key == "" {
		u.Key = u.Cert
	}
	return nil
}

// String returns the URL with all its parts, which Parse reads.
func (u *URL) String() string {
	var b strings.Builder
	b.WriteString("redis")
	if u.TLS {
		b.WriteString("s")
	}
	b.WriteString("://")
	if u.User != "" || u.Password != "" {
		b.WriteString(escape(u.User) + ":" + escape(u.Password) + "@")
	}
	b.WriteString(strings.Join(u.Servers, ","))
	if u.Database != 0 {
		fmt.Fprintf(&b, "/%d", u.Database)
	}
	values := url.Values{}
	if u.Timeout != 0 {
		values.Set("timeout", u.Timeout.String())
	}
	for name, file := range map[string]string{"ca": u.CA, "cert": u.Cert, "key": u.Key} {
		if file != "" {
			values.Set(name, file)
		}
	}
	if len(values) > 0 {
		b.WriteString("?" + values.Encode())
	}
	return b.String()
}

// Name returns the servers and the database, for events and metrics.
func (u *URL) Name() string {
	name := strings.Join(u.Servers, ",")
	if u.Database != 0 {
		name += "/" + strconv.Itoa(u.Database)
	}
	return name
}

// escape escapes all characters that have a meaning in a URL.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
