package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/grpcunary"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// Check returns an *Error if the settings are inconsistent. It needs no URL and reads no
// files. Plan calls it. load.Run checks the numbers.
func (s *Settings) Check() error {
	for _, check := range []func() error{s.checkLoop, s.checkRequest, s.checkFile, s.checkGRPC} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := s.pace(); err != nil {
		return err
	}
	if _, err := s.backlog(); err != nil {
		return err
	}
	if _, err := s.header(); err != nil {
		return err
	}
	if _, err := s.expectations(); err != nil {
		return err
	}
	_, err := s.formFields()
	return err
}

// open reports whether the loop is open.
func (s *Settings) open() bool { return s.Rate != 0 || len(s.Stages) > 0 || s.FromLog != "" }

// checkLoop checks the settings of the loop.
func (s *Settings) checkLoop() error {
	switch {
	case s.Flows != "" && (s.open() || s.Poisson):
		return fail("flows", "leave out the rate; the connections are the users", "users set the rate: each waits for its response, and thinks")
	case s.Flows != "" && s.Pipeline > 1 && !s.HTTP2:
		return fail("pipeline", "leave it out; the connections are the users", "a user waits for its response")
	case s.Rate != 0 && len(s.Stages) > 0:
		return fail("rate", "leave it out, or make it a stage, such as 30s:1000", "the stages have a rate already")
	case s.FromLog != "" && (s.Rate != 0 || len(s.Stages) > 0 || s.Poisson):
		return fail("from_log", "leave out the rate; a speed of 2 is twice as fast as the log", "the log has the times of the requests already")
	case s.FromLog == "" && s.Speed != 0:
		return fail("speed", "add --from-log FILE", "it is for the requests of a log")
	case s.FromLog == "" && s.RequestsFile == "" && s.AllMethods:
		return fail("all_methods", "add --from-log FILE, or a description in OpenAPI", "it is for requests that a file has chosen")
	case s.Pipeline > 1 && s.NoKeepAlive:
		return fail("pipeline", "", "it needs connections that stay open, and each request has a new one")
	}
	if s.open() {
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"poisson", s.Poisson}, {"max_connections", s.MaxConnections > 0},
		{"behind", s.Behind != "" && s.Behind != catchUp},
	} {
		if f.given {
			return fail(f.name, "give a rate too, such as 1000",
				"it is for the open loop, which needs a rate or stages")
		}
	}
	return nil
}

// checkRequest checks that the parts of a request are consistent.
func (s *Settings) checkRequest() error {
	switch {
	case len(s.Form) > 0 && s.Body != "":
		return fail("form", "a field of a form is name=value", "body and form are two bodies")
	case s.AllHosts && s.To == "":
		return fail("all_hosts", "add --to ORIGIN", "it is for requests that are sent to another origin")
	case s.Key != "" && s.Cert == "":
		return fail("key", "cert and key are two files, or cert has both", "it needs its certificate")
	}
	return nil
}

// checkFile checks that the settings do not repeat parts of a file of requests.
func (s *Settings) checkFile() error {
	name := "requests_file"
	switch {
	case s.RequestsFile != "" && s.FromLog != "":
		return fail("from_log", "send one of them, and then the other", "a file of requests and a log are two sources of requests")
	case s.Flows != "" && (s.RequestsFile != "" || s.FromLog != "" || s.To != ""):
		return fail("flows", "send one of them, and then the other; the URL is that of the server", "flows have their own requests")
	case s.Flows != "":
		return s.checkParts("flows", "leave it out; each step has its own")
	case s.FromLog != "":
		name = "from_log"
	case s.RequestsFile == "":
		if s.To != "" {
			return fail("to", "the url may be "+s.To, "it is for the requests of a file")
		}
		return nil
	}
	if s.URL != "" {
		return &Error{name, errors.New("the file has the requests, and a URL does not go with it"), inFile}
	}
	return s.checkParts(name, inFile)
}

const inFile = "leave it out; to sends the requests to another origin, and headers are added to all of them"

// checkGRPC checks that nothing contradicts a call of gRPC.
func (s *Settings) checkGRPC() error {
	switch {
	case s.GRPC == "" && s.Proto != "":
		return fail("proto", "add --grpc PACKAGE.SERVICE/METHOD", "it describes a method of gRPC, and none is called")
	case s.GRPC == "":
		return nil
	case s.RequestsFile != "" || s.FromLog != "" || s.Flows != "":
		return fail("grpc", "send one of them, and then the other", "a call of gRPC and a file are two sources of requests")
	case s.Method != "" || len(s.Form) > 0 || s.PathGrowth > 0:
		return fail("grpc", "leave it out; the message is the body, in JSON", "a call has neither a method of HTTP, nor a form, nor a growing path")
	case strings.Contains(s.Body, "{{"):
		return fail("body", "send several kinds of calls one after the other", "the message of a call has no templates: it is encoded once")
	}
	if _, err := grpcunary.ParseMethod(s.GRPC); err != nil {
		return &Error{"grpc", err, ""}
	}
	return nil
}

// checkParts checks that no parts of a request are given beside those of a file.
func (s *Settings) checkParts(name, hint string) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"a method", s.Method != ""}, {"a body", s.Body != ""},
		{"a form", len(s.Form) > 0}, {"a growing path", s.PathGrowth > 0},
	} {
		if f.given {
			return &Error{name, fmt.Errorf("the file has the requests, and %s does not go with it", f.name), hint}
		}
	}
	return nil
}

// catchUp is the default of Behind.
const catchUp = "catch-up"

// pace reads Rate, Stages and Poisson.
func (s *Settings) pace() (pace.Pace, error) {
	var p pace.Pace
	if s.FromLog != "" {
		return pace.OfLog(cmp.Or(s.Speed, 1)), nil
	}
	if s.Rate != 0 {
		p = pace.Rate(s.Rate)
	}
	for _, text := range s.Stages {
		stage, err := pace.ParseStage(text)
		if err != nil {
			return p, &Error{"stages", err, ""}
		}
		p.Stages = append(p.Stages, stage)
	}
	p.Poisson = s.Poisson
	return p, nil
}

// backlog reads Behind.
func (s *Settings) backlog() (int, error) {
	switch s.Behind {
	case "", catchUp:
		return 0, nil
	case "skip":
		return -1, nil
	}
	n, err := strconv.Atoi(s.Behind)
	if err != nil || n < 1 {
		return 0, &Error{"behind", fmt.Errorf("%q is not catch-up, skip or a number of requests", s.Behind), ""}
	}
	return n, nil
}

// header reads Headers.
func (s *Settings) header() ([]target.Header, error) {
	var list []target.Header
	for _, line := range s.Headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, &Error{"headers", fmt.Errorf("there is no colon in %q", line),
				"a header is 'Accept: text/html'"}
		}
		list = append(list, target.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return list, nil
}

// expectations reads Expect. A call of gRPC is expected to have the status OK, unless Expect has another one.
func (s *Settings) expectations() (all []expect.Expectation, err error) {
	texts := s.Expect
	if s.GRPC != "" && !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "grpc ") }) {
		texts = append(slices.Clip(texts), "grpc OK")
	}
	for _, text := range texts {
		e, err := expect.Parse(text)
		if err != nil {
			return nil, &Error{"expect", err, ""}
		}
		all = append(all, e)
	}
	return all, nil
}

// formFields reads Form.
func (s *Settings) formFields() ([]target.FormField, error) {
	var fields []target.FormField
	for _, text := range s.Form {
		more, err := target.ParseFormField(text)
		if err != nil {
			return nil, &Error{"form", err, ""}
		}
		fields = append(fields, more...)
	}
	return fields, nil
}
