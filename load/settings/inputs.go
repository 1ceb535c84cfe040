package settings

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/load/target"
)

// find returns the path of a file.
func (s *Settings) find(name string) (string, error) {
	switch {
	case s.Find != nil:
		return s.Find(name)
	case name == "" || s.Folder == "" || filepath.IsAbs(name):
		return name, nil
	}
	return filepath.Join(s.Folder, name), nil
}

// WithScheme completes a URL as curl does: the default scheme is http, and the default
// host of :8080 is this machine.
func WithScheme(url string) string {
	if strings.Contains(url, "://") {
		return url
	}
	if strings.HasPrefix(url, ":") {
		url = "127.0.0.1" + url
	}
	return "http://" + url
}

// openInput opens a file, or Stdin for "-".
func (s *Settings) openInput(name string) (*os.File, error) {
	if name != "-" || s.Find != nil {
		path, err := s.find(name)
		if err != nil {
			return nil, err
		}
		return os.Open(path)
	}
	if s.Stdin == nil {
		return nil, errors.New("there is no stdin here to read for -; name a file")
	}
	return s.Stdin, nil
}

// read reads a file.
func (s *Settings) read(name string) ([]byte, error) {
	path, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// fileBody returns a body that is read from a file while it is sent. Other files than
// regular ones, such as pipes, are read now.
func (s *Settings) fileBody(name string) (target.Body, error) {
	f, err := s.openInput(name)
	if err != nil {
		return target.Body{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return target.Body{}, err
	}
	if info.Mode().IsRegular() {
		return target.Body{File: f, Size: info.Size()}, nil
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	return target.Body{File: bytes.NewReader(content), Size: int64(len(content))}, err
}

// tls returns the configuration of the certificates; nil for the defaults.
func (s *Settings) tls() (*tls.Config, error) {
	if !s.Insecure && s.CACert == "" && s.Cert == "" && s.SNI == "" {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: s.Insecure, ServerName: s.SNI}
	if s.CACert != "" {
		pem, err := s.read(s.CACert)
		if err != nil {
			return nil, &Error{"cacert", err, ""}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &Error{"cacert", fmt.Errorf("%s has no certificate in PEM", s.CACert), ""}
		}
	}
	if s.Cert != "" {
		cert, err := s.read(s.Cert)
		if err != nil {
			return nil, &Error{"cert", err, ""}
		}
		key, err := s.read(cmp.Or(s.Key, s.Cert))
		if err != nil {
			return nil, &Error{"key", err, ""}
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, &Error{"cert", err, ""}
		}
		// Certificates would be left out if the server names other authorities, and the
		// server would respond that there is none.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return c, nil
}
