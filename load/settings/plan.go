package settings

import (
	"fmt"
	"io"
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
	if s.HTTP2 || s.GRPC != "" {
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
	if p.TLS, err = s.tls(); err != nil {
		return p, err
	}
	switch {
	case s.FromLog != "":
		p.Log, err = s.openLog()
	case s.GRPC != "":
		err = s.call(&p.Targets[0], p.TLS)
	}
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
