package otlpsink

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// parameters are the names of the parameters of a URL.
var parameters = []string{"ca", "cert", "compression", "headers", "key", "timeout"}

// defaultTimeout is the time limit of a request in the specification of OTLP.
const defaultTimeout = 10 * time.Second

// An address is a parsed URL.
type address struct {
	url           string // of the requests, without user and query
	authorization string // the value of the header field, or ""
	headers       string // the name of a file, or ""
	compression   string // gzip, zstd or none
	timeout       time.Duration
	tls           *tls.Config // nil for the default
}

// parse parses a URL, and reads the certificates that it names. The path of the URL precedes that of the
// requests. Its errors do not contain the user and the password.
func parse(text, path string) (*address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the URL is not valid: write otlp+http://host:4318, and special characters of a password " +
			"as %40 and so on")
	}
	a := &address{timeout: defaultTimeout, compression: "gzip"}
	switch u.Scheme {
	case "otlp+http", "otlp+https":
		u.Scheme = strings.TrimPrefix(u.Scheme, "otlp+")
	default:
		return nil, errors.New("the URL of a server begins with otlp+http:// or otlp+https://")
	}
	if u.Hostname() == "" || u.Fragment != "" {
		return nil, errors.New("the URL of a server is otlp+http://host:4318")
	}
	if u.User != nil {
		password, _ := u.User.Password()
		a.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	if err := a.setParameters(u.RawQuery); err != nil {
		return nil, err
	}
	if a.tls != nil && u.Scheme != "https" {
		return nil, errors.New("certificates need otlp+https://")
	}
	if !strings.HasSuffix(u.Path, path) {
		u.Path = strings.TrimSuffix(u.Path, "/") + path
	}
	a.url = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return a, nil
}

// setParameters reads the part of a URL after the question mark.
func (a *address) setParameters(query string) error {
	given, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the part after the ? is not a query: write ?name=value&name=value")
	}
	for name, values := range given {
		switch {
		case !slices.Contains(parameters, name):
			return fmt.Errorf("the URL has the unknown parameter %q: there are %s", name, strings.Join(parameters, ", "))
		case len(values) > 1:
			return fmt.Errorf("the URL has the parameter %s twice", name)
		}
	}
	a.headers = given.Get("headers")
	if given.Has("compression") {
		if a.compression = given.Get("compression"); !slices.Contains(compressions, a.compression) {
			return fmt.Errorf("compression is %q, want one of %s", a.compression, strings.Join(compressions, ", "))
		}
	}
	if given.Has("timeout") {
		if a.timeout, err = time.ParseDuration(given.Get("timeout")); err != nil || a.timeout <= 0 {
			return fmt.Errorf("timeout is %q, want a duration such as 10s", given.Get("timeout"))
		}
	}
	return a.setTLS(given.Get("ca"), given.Get("cert"), given.Get("key"))
}

// setTLS reads the certificates, if there are any.
func (a *address) setTLS(ca, cert, key string) error {
	if (cert == "") != (key == "") {
		return errors.New("the parameters cert and key belong together")
	}
	if ca == "" && cert == "" {
		return nil
	}
	a.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		a.tls.RootCAs = x509.NewCertPool()
		if !a.tls.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s contains no certificate", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return err
		}
		a.tls.Certificates = []tls.Certificate{pair}
	}
	return nil
}
