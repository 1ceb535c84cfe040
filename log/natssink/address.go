package natssink

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
)

// An Address is a parsed URL.
type Address struct {
	Subject string
	Options nats.Options // of the connection
}

// Parameters are the names of the parameters of a URL.
var Parameters = []string{"creds", "nkey", "ca", "cert", "key"}

// Parse parses a URL, and reads the files that it names:
//
//	nats://host:4222,host2:4222/logs.shop    one or more servers of a cluster, and a subject
//	tls://host/logs.shop                     with TLS; the port is 4222 if there is none
//	nats://user:password@host/logs.shop      special characters are written as %40 and so on
//	nats://token@host/logs.shop
//	nats://host/logs.shop?creds=shop.creds   a file with a JWT and its key
//	nats://host/logs.shop?nkey=shop.nk       a file with the seed of an NKey
//	tls://host/logs.shop?ca=ca.pem           certificates of authorities, instead of the system's
//	tls://host/logs.shop?cert=a.pem&key=b.pem    a certificate of the client
//
// Its errors do not contain the user, the password and the token.
func Parse(text string) (*Address, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "nats" && scheme != "tls" {
		return nil, errors.New("the URL of a subject begins with nats:// or tls://")
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, subject, _ := strings.Cut(rest, "/")
	if err := checkSubject(subject); err != nil {
		return nil, err
	}
	a := &Address{Subject: subject, Options: nats.GetDefaultOptions()}
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		hosts = authority[at+1:]
		if err := a.setUser(authority[:at]); err != nil {
			return nil, err
		}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		server := url.URL{Scheme: scheme, Host: host}
		parsed, err := url.Parse(server.String())
		if err != nil || parsed.Host != host || parsed.Hostname() == "" {
			return nil, fmt.Errorf("%q is not a host", host)
		}
		if parsed.Port() == "" {
			server.Host = net.JoinHostPort(parsed.Hostname(), "4222")
		}
		a.Options.Servers = append(a.Options.Servers, server.String())
	}
	return a, a.setParameters(query)
}

// checkSubject checks that a message can be published or read with a subject.
func checkSubject(subject string) error {
	if subject == "" {
		return errors.New("the URL has no subject: write nats://host:4222/subject")
	}
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || strings.ContainsAny(token, " \t\r\n#") {
			return fmt.Errorf("%q is not a subject", subject)
		}
	}
	return nil
}

// isPattern reports whether a subject has a wildcard, and thus names many subjects.
func isPattern(subject string) bool {
	return slices.ContainsFunc(strings.Split(subject, "."), func(token string) bool {
		return token == "*" || token == ">"
	})
}

// setUser reads the part of a URL before the @: a user and a password, or a token.
func (a *Address) setUser(text string) error {
	parsed, err := url.Parse("nats://" + text + "@host")
	if err != nil || parsed.User == nil {
		return errors.New("the user, password or token is not valid in a URL: write special characters as %40 and so on")
	}
	password, both := parsed.User.Password()
	if both {
		a.Options.User, a.Options.Password = parsed.User.Username(), password
	} else {
		a.Options.Token = parsed.User.Username()
	}
	return nil
}

// setParameters reads the part of a URL after the question mark.
func (a *Address) setParameters(query string) error {
	given, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the part after the ? is not a query: write ?name=value&name=value")
	}
	for name, values := range given {
		switch {
		case !slices.Contains(Parameters, name):
			return fmt.Errorf("the URL has the unknown parameter %q: there are %s", name, strings.Join(Parameters, ", "))
		case len(values) > 1:
			return fmt.Errorf("the URL has the parameter %s twice", name)
		}
	}
	if name := given.Get("creds"); name != "" {
		if err := a.setCredentials(name); err != nil {
			return err
		}
	}
	if name := given.Get("nkey"); name != "" {
		option, err := nats.NkeyOptionFromSeed(name)
		if err != nil {
			return fmt.Errorf("%s has no seed of an NKey: %w", name, err)
		}
		if err := option(&a.Options); err != nil {
			return err
		}
	}
	return a.setTLS(given.Get("ca"), given.Get("cert"), given.Get("key"))
}

// setCredentials uses a file, which is read again for each connection.
func (a *Address) setCredentials(name string) error {
	err := nats.UserCredentials(name)(&a.Options)
	if err == nil {
		_, err = a.Options.UserJWT()
	}
	if err == nil {
		_, err = a.Options.SignatureCB([]byte("nonce"))
	}
	if err != nil {
		return fmt.Errorf("%s has no credentials: %w", name, err)
	}
	return nil
}

// setTLS reads the certificates, if there are any.
func (a *Address) setTLS(ca, cert, key string) error {
	if (cert == "") != (key == "") {
		return errors.New("the parameters cert and key belong together")
	}
	if ca == "" && cert == "" {
		return nil
	}
	a.Options.Secure = true
	a.Options.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		a.Options.TLSConfig.RootCAs = x509.NewCertPool()
		if !a.Options.TLSConfig.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s contains no certificate", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return err
		}
		a.Options.TLSConfig.Certificates = []tls.Certificate{pair}
	}
	return nil
}
