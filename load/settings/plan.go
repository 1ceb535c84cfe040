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
	"slices"
	"strings"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/flow"
	"github.com/weirhq/weir/load/replay"
	"github.com/weirhq/weir/load/target"
)

// Plan returns the plan of the settings. It opens their files, which stay open for the
// plan. Errors are of type *Error.
func (s Settings) Plan() (load.Plan, error) {
	if err := s.Check(); err != nil {
		return load.Plan{}, err
	}
	p := load.Plan{
		Connections: s.Connections, MaxConnections: s.MaxConnections, Pipeline: s.Pipeline,
		Duration: s.Duration, WarmUp: s.WarmUp, Requests: s.Requests, Timeout: s.Timeout, Threads: s.Threads,
		NoKeepAlive: s.NoKeepAlive, Unix: s.Unix, Process: s.PID, Seed: s.Seed, Find: s.find,
	}
	if s.HTTP2 {
		p.Protocol = load.HTTP2
	}
	var err error
	if p.Pace, err = s.pace(); err != nil {
		return p, err
	}
	if p.Backlog, err = s.backlog(); err != nil {
		return p, err
	}
	if p.Expect, err = s.expectations(); err != nil {
		return p, err
	}
	if p.Targets, p.Warnings, err = s.targets(); err != nil {
		return p, err
	}
	if p.Flows, err = s.flows(); err != nil {
		return p, err
	}
	if p.TLS, err = s.tls(); err != nil || s.FromLog == "" {
		return p, err
	}
	p.Log, err = s.openLog()
	return p, err
}

// openLog opens the log of FromLog.
func (s *Settings) openLog() (*replay.Log, error) {
	in, err := s.openInput(s.FromLog)
	if err != nil {
		return nil, &Error{"from_log", err, ""}
	}
	name := s.FromLog
	if name == "-" {
		name = "stdin"
	}
	log, err := replay.Open(in, replay.Options{Name: name, AllMethods: s.AllMethods})
	if err != nil {
		in.Close()
		return nil, &Error{"from_log", err, ""}
	}
	return log, nil
}

// flows reads the page of Flows; nil without one.
func (s *Settings) flows() (*flow.Page, error) {
	if s.Flows == "" {
		return nil, nil
	}
	in, err := s.openInput(s.Flows)
	if err != nil {
		return nil, &Error{"flows", err, ""}
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, &Error{"flows", err, ""}
	}
	page, err := flow.Parse(s.Flows, text)
	if err != nil {
		return nil, &Error{"flows", err, ""}
	}
	return page, nil
}

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

// targets returns the requests, and warnings about those that are left out.
func (s *Settings) targets() (all []target.Target, warnings []string, err error) {
	header, err := s.header()
	if err != nil {
		return nil, nil, err
	}
	if s.RequestsFile != "" {
		return s.readTargets(header)
	}
	if s.FromLog != "" && s.To == "" {
		return nil, nil, fail("from_log", "add --to http://127.0.0.1:8080", "a log does not say where to send its requests")
	}
	if s.FromLog != "" {
		all, err = target.Rebase([]target.Target{{URL: "http://log/", Header: header}}, WithScheme(s.To))
		if err != nil {
			return nil, nil, &Error{"to", err, ""}
		}
		return all, nil, nil
	}
	if s.URL == "" {
		return nil, nil, fail("url", "such as http://127.0.0.1:8080/", "there is no URL to send requests to")
	}
	t := target.Target{Method: s.Method, URL: WithScheme(s.URL), Header: header}
	if len(s.Form) > 0 {
		err = s.setForm(&t)
	} else {
		err = s.setBody(&t)
	}
	if err != nil {
		return nil, nil, err
	}
	return target.GrowPath(t, s.PathGrowth), nil, nil
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

// readTargets reads the requests of RequestsFile.
func (s *Settings) readTargets(header []target.Header) (targets []target.Target, warnings []string, err error) {
	in, err := s.openInput(s.RequestsFile)
	if err != nil {
		return nil, nil, &Error{"requests_file", err, ""}
	}
	defer in.Close()
	list, err := target.Read(in, s.RequestsFile, s.find)
	if err != nil {
		return nil, nil, &Error{"requests_file", err, ""}
	}
	if n := len(list.Skipped); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of the %d requests in %s cannot be sent and are skipped; the first: %s",
			n, n+len(list.Targets), s.RequestsFile, list.Skipped[0]))
	}
	targets, s.Insecure = list.Targets, s.Insecure || list.Insecure
	if list.NoServer && s.To == "" {
		return nil, nil, &Error{"requests_file", fmt.Errorf("%s names no server", s.RequestsFile), "--to http://HOST:PORT gives one"}
	}
	if list.Described {
		if targets, warnings, err = s.described(list, warnings); err != nil {
			return nil, nil, err
		}
	}
	if s.To != "" {
		if list.Recorded && !s.AllHosts {
			var others int
			if targets, others = list.OfOwnHost(); others > 0 {
				warnings = append(warnings, fmt.Sprintf("%d of the %d requests in %s went to other hosts than the first one "+
					"and are left out; --all-hosts sends them to %s too", others, others+len(targets), s.RequestsFile, s.To))
			}
		}
		if targets, err = target.Rebase(targets, WithScheme(s.To)); err != nil {
			return nil, nil, &Error{"to", err, ""}
		}
	}
	for i := range targets {
		targets[i].Header = append(targets[i].Header, header...)
	}
	return targets, warnings, nil
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

// setBody sets the body from Body.
func (s *Settings) setBody(t *target.Target) error {
	name, file := strings.CutPrefix(s.Body, "@")
	if !file {
		t.Body.Text = s.Body
		return nil
	}
	var err error
	if t.Body, err = s.fileBody(name); err != nil {
		return &Error{"body", err, "a body is a text, or @FILE"}
	}
	return nil
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

// setForm sets the body from Form.
func (s *Settings) setForm(t *target.Target) error {
	fields, err := s.formFields()
	if err != nil {
		return err
	}
	for i, f := range fields {
		if f.Path == "" {
			continue
		}
		if fields[i].Path, err = s.find(f.Path); err != nil {
			return &Error{"form", err, ""}
		}
	}
	body, contentType, err := target.Form(fields, s.Seed)
	if err != nil {
		return &Error{"form", err, ""}
	}
	t.Body, t.Header = body, append(t.Header, contentType)
	return nil
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
		// server would response that there is none.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return c, nil
}

// described returns the requests of a description that are sent, and a warning about the others.
func (s *Settings) described(list *target.List, warnings []string) ([]target.Target, []string, error) {
	if s.AllMethods {
		return list.Targets, warnings, nil
	}
	safe := slices.DeleteFunc(slices.Clone(list.Targets), func(t target.Target) bool { return !replay.Safe(t.Method) })
	others := len(list.Targets) - len(safe)
	if len(safe) == 0 {
		return nil, nil, &Error{"requests_file", fmt.Errorf("each of the %d requests in %s may change something", others,
			s.RequestsFile), "--all-methods sends them"}
	}
	if others > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of the %d requests in %s may change something and are left out; "+
			"--all-methods sends them too", others, len(list.Targets), s.RequestsFile))
	}
	return safe, warnings, nil
}
