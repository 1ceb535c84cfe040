package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/weirhq/weir/load"
)

// misuse is about flags that cannot be meant.
func (c *loadSendCmd) misuse(hint, format string, args ...any) error {
	return &problem{err: fmt.Errorf(format, args...), hint: cmp.Or(hint, "weir load --help"), code: exitMisuse}
}

// plan makes a plan of the flags.
func (c *loadSendCmd) plan() (load.Plan, error) {
	p := load.Plan{
		Connections: c.Connections, MaxConnections: c.MaxConnections, Pipeline: c.Pipeline,
		Duration: c.Duration, Requests: c.Requests, Timeout: c.Timeout, Threads: c.Threads,
		NoKeepAlive: c.NoKeepalive, Process: c.PID, Seed: c.Seed,
	}
	if c.HTTP2 {
		p.Protocol = load.HTTP2
	}
	if err := c.check(); err != nil {
		return p, err
	}
	for _, part := range []func(*load.Plan) error{c.setPace, c.setTargets, c.setTLS} {
		if err := part(&p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// check refuses flags that do not go together, or have no such value.
func (c *loadSendCmd) check() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"--connections", float64(c.Connections)}, {"--max-connections", float64(c.MaxConnections)},
		{"--pipeline", float64(c.Pipeline)}, {"--threads", float64(c.Threads)}, {"--requests", float64(c.Requests)},
		{"--duration", c.Duration.Seconds()}, {"--timeout", c.Timeout.Seconds()}, {"--rate", c.Rate}, {"--path-growth", float64(c.PathGrowth)},
	} {
		if f.value < 0 {
			return c.misuse("", "%s: %v is negative", f.name, f.value)
		}
	}
	switch {
	case c.Rate != 0 && len(c.Stage) > 0:
		return c.misuse("--stage 30s:1000 --stage 1m:5000", "--rate and --stage both say the rate")
	case c.Pipeline > 1 && c.NoKeepalive:
		return c.misuse("", "--pipeline needs connections that stay, which --no-keepalive forbids")
	case c.Key != "" && c.Cert == "":
		return c.misuse("--cert FILE --key FILE", "--key needs the certificate that it belongs to")
	}
	if c.open() {
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"--poisson", c.Poisson}, {"--max-connections", c.MaxConnections > 0}, {"--behind", c.Behind != catchUp}} {
		if f.given {
			return c.misuse("weir load --rate 1000 "+f.name+" ...", "%s is for the open loop, which --rate or --stage make", f.name)
		}
	}
	return nil
}

// catchUp is what --behind says unless given.
const catchUp = "catch-up"

// setPace reads --rate, --stage, --poisson and --behind.
func (c *loadSendCmd) setPace(p *load.Plan) error {
	if c.Rate != 0 {
		p.Pace = load.Rate(c.Rate)
	}
	for _, text := range c.Stage {
		stage, err := load.ParseStage(text)
		if err != nil {
			return c.misuse("", "--%w", err)
		}
		p.Pace.Stages = append(p.Pace.Stages, stage)
	}
	p.Pace.Poisson = c.Poisson
	switch c.Behind {
	case catchUp:
	case "skip":
		p.Backlog = -1
	default:
		n, err := strconv.Atoi(c.Behind)
		if err != nil || n < 1 {
			return c.misuse("", "--behind: %q is none of catch-up, skip and a number of requests", c.Behind)
		}
		p.Backlog = n
	}
	return nil
}

// setTargets makes the requests.
func (c *loadSendCmd) setTargets(p *load.Plan) error {
	header, err := c.header()
	if err != nil {
		return err
	}
	if c.RequestsFile != "" {
		return c.readTargets(p, header)
	}
	if err := c.checkURL(); err != nil {
		return err
	}
	t := load.Target{Method: c.Method, URL: withScheme(c.URL[0]), Header: header}
	if err := c.setBody(&t); err != nil {
		return err
	}
	p.Targets = []load.Target{t}
	if c.PathGrowth > 0 {
		p.Targets = load.GrowPath(t, c.PathGrowth)
	}
	return nil
}

// checkURL explains what is wrong with the arguments unless there is one.
func (c *loadSendCmd) checkURL() error {
	switch {
	case c.To != "":
		return c.misuse("weir load "+c.To, "--to is for the requests of a --requests-file")
	case len(c.URL) == 0:
		return c.misuse("weir load http://127.0.0.1:8080/", "there is no URL to send requests to")
	case len(c.URL) > 1 && likely(c.URL[0], []string{"compare", "gen"}) != "":
		return c.misuse("", "unexpected argument %s, did you mean %q?", c.URL[0], likely(c.URL[0], []string{"compare", "gen"}))
	case len(c.URL) > 1 && c.JSON == "-":
		return c.misuse("weir load --json="+c.URL[0]+" "+c.URL[1], "%q and %q are two URLs", c.URL[0], c.URL[1])
	case len(c.URL) > 1:
		return c.misuse("write both to a file: weir load --requests-file FILE", "%q and %q are two URLs", c.URL[0], c.URL[1])
	}
	return nil
}

// withScheme completes a URL as curl does; a port alone is this machine's.
func withScheme(url string) string {
	if strings.Contains(url, "://") {
		return url
	}
	if strings.HasPrefix(url, ":") {
		url = "127.0.0.1" + url
	}
	return "http://" + url
}

// header reads --header.
func (c *loadSendCmd) header() ([]load.Header, error) {
	var list []load.Header
	for _, line := range c.Header {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, c.misuse("-H 'Accept: text/html'", "--header: there is no colon in %q", line)
		}
		list = append(list, load.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return list, nil
}

// readTargets takes the requests from --requests-file.
func (c *loadSendCmd) readTargets(p *load.Plan, header []load.Header) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"a URL", len(c.URL) > 0}, {"--method", c.Method != ""}, {"--body", c.Body != ""},
		{"--form", len(c.Form) > 0}, {"--path-growth", c.PathGrowth > 0},
	} {
		if f.given {
			return c.misuse("--to http://127.0.0.1:8080 sends its requests elsewhere, and --header adds to all of them", "--requests-file has the requests, and %s does not go with it", f.name)
		}
	}
	in, err := openInput(c.RequestsFile)
	if err != nil {
		return c.misuse("", "--requests-file: %w", err)
	}
	defer in.Close()
	targets, err := load.ReadTargets(in, c.RequestsFile)
	if err == nil && c.To != "" {
		targets, err = load.Rebase(targets, withScheme(c.To))
	}
	if err != nil {
		return c.misuse("", "--requests-file: %w", err)
	}
	for i := range targets {
		targets[i].Header = append(targets[i].Header, header...)
	}
	p.Targets = targets
	return nil
}

// openInput opens a file, or stdin for "-".
func openInput(name string) (*os.File, error) {
	if name == "-" {
		return os.Stdin, nil
	}
	return os.Open(name)
}

// setBody reads --body and --form.
func (c *loadSendCmd) setBody(t *load.Target) error {
	name, file := strings.CutPrefix(c.Body, "@")
	switch {
	case len(c.Form) > 0 && c.Body != "":
		return c.misuse("--form name=value", "--body and --form are two bodies")
	case len(c.Form) > 0:
		return c.setForm(t)
	case !file:
		t.Body.Text = c.Body
		return nil
	}
	body, err := fileBody(name)
	if err != nil {
		return c.misuse("--body TEXT, --body @FILE, or --body @- for stdin", "--body: %w", err)
	}
	t.Body = body
	return nil
}

// fileBody is a body that is read from a file while it is sent; what is no
// regular file, such as a pipe, is read at once. It is open as long as weir runs.
func fileBody(name string) (load.Body, error) {
	f, err := openInput(name)
	if err != nil {
		return load.Body{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return load.Body{}, err
	}
	if info.Mode().IsRegular() {
		return load.Body{File: f, Size: info.Size()}, nil
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	return load.Body{File: bytes.NewReader(content), Size: int64(len(content))}, err
}

// setForm makes the body of --form.
func (c *loadSendCmd) setForm(t *load.Target) error {
	var fields []load.FormField
	for _, text := range c.Form {
		more, err := load.ParseFormField(text)
		if err != nil {
			return c.misuse("", "--form: %w", err)
		}
		fields = append(fields, more...)
	}
	body, contentType, err := load.Form(fields, c.Seed)
	if err != nil {
		return c.misuse("", "--form: %w", err)
	}
	t.Body, t.Header = body, append(t.Header, contentType)
	return nil
}

// setTLS reads the flags about certificates.
func (c *loadSendCmd) setTLS(p *load.Plan) error {
	if !c.Insecure && c.CACert == "" && c.Cert == "" && c.SNI == "" {
		return nil
	}
	p.TLS = &tls.Config{InsecureSkipVerify: c.Insecure, ServerName: c.SNI}
	if c.CACert != "" {
		pem, err := os.ReadFile(c.CACert)
		if err != nil {
			return c.misuse("", "--cacert: %w", err)
		}
		p.TLS.RootCAs = x509.NewCertPool()
		if !p.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return c.misuse("", "--cacert: %s has no certificate in PEM", c.CACert)
		}
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, cmp.Or(c.Key, c.Cert))
		if err != nil {
			return c.misuse("", "--cert: %w", err)
		}
		p.TLS.Certificates = []tls.Certificate{pair}
	}
	return nil
}
