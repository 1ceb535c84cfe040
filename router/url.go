package router

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// url returns the path of the route, after // and its host if it has one, with values
// for its parameters, given as alternating names and values.
func (d *dispatch) url(r *route, pairs []string) (string, error) {
	path, err := r.pattern.path(pairs)
	if err != nil {
		return "", err
	}
	host, err := r.pattern.urlHost(pairs)
	if err == nil {
		err = d.checkURL(r, host, path, pairs)
	}
	if err != nil || host == "" {
		return path, err
	}
	return "//" + host + path, nil
}

// checkURL returns an error unless the host and the path reach the route with the same
// values.
func (d *dispatch) checkURL(r *route, host, path string, pairs []string) error {
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return err
	}
	req := &http.Request{Method: http.MethodGet, Host: host, URL: u}
	if len(r.pattern.methods) > 0 {
		req.Method = r.pattern.methods[0]
	}
	var f result
	switch e := d.match(&f, req); {
	case e == nil:
		return fmt.Errorf("%s %s reaches no route", req.Method, path)
	case !slices.Contains(e.routes, r):
		return fmt.Errorf("%s %s reaches %s", req.Method, path, e.pattern())
	}
	values := f.values(len(r.pattern.names))
	for i, name := range r.pattern.names {
		if want := valueOf(pairs, name); values.value(i) != want {
			return fmt.Errorf("parameter %q: %s reads %q as %q", name, path, want, values.value(i))
		}
	}
	return nil
}

// path returns the path of the pattern with values for its parameters.
func (p *pattern) path(pairs []string) (string, error) {
	if err := p.checkPairs(pairs); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range p.segments {
		b.WriteByte('/')
		if s.name == "" {
			b.WriteString(url.PathEscape(s.text)) // "" for {$} and a final slash
			continue
		}
		path, err := s.fill(valueOf(pairs, s.name))
		if err != nil {
			return "", fmt.Errorf("parameter %q: %w", s.name, err)
		}
		b.WriteString(path)
	}
	return b.String(), nil
}

// valueOf returns the value of a name in the pairs.
func valueOf(pairs []string, name string) string {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return ""
}

// urlHost returns the host of the pattern in the form of a URL, with a value for its
// wildcard.
func (p *pattern) urlHost(pairs []string) (string, error) {
	switch {
	case p.label == nil && strings.Contains(p.host, ":"):
		return "[" + p.host + "]", nil
	case p.label == nil:
		return p.host, nil
	case p.labelName == "":
		return "", fmt.Errorf("the wildcard of *.%s has no name; write {name}.%s", p.host, p.host)
	}
	value := valueOf(pairs, p.labelName)
	for _, label := range strings.Split(value, ".") {
		if !isLabel(label) {
			return "", fmt.Errorf("parameter %q: %q cannot be part of a host", p.labelName, value)
		}
	}
	return value + "." + p.host, nil
}

// checkPairs returns an error unless each parameter of the pattern is named once.
func (p *pattern) checkPairs(pairs []string) error {
	if len(pairs)%2 != 0 {
		return fmt.Errorf("%d names and values are not pairs", len(pairs))
	}
	names := p.allNames()
	given := make([]string, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		switch name := pairs[i]; {
		case len(names) == 0:
			return fmt.Errorf("there are no parameters, and so no %q", name)
		case !slices.Contains(names, name):
			return fmt.Errorf("there is no parameter %q; there are %s", name, strings.Join(names, ", "))
		case slices.Contains(given, name):
			return fmt.Errorf("parameter %q is given twice", name)
		default:
			given = append(given, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(given, name) {
			return fmt.Errorf("parameter %q has no value", name)
		}
	}
	return nil
}

// fill returns the escaped segment of a parameter, or the segments of a wildcard, with
// a value.
func (s segment) fill(value string) (string, error) {
	switch s.kind {
	case rest, middleWildcard:
		return fillSegments(value, s.kind == rest)
	}
	if value == "" {
		return "", errors.New("a value cannot be empty")
	}
	if s.constraintName != "" && !s.constraint.Match(value) {
		return "", fmt.Errorf("the constraint %s does not accept %q", s.constraintName, value)
	}
	return fillSegment(s.with(value))
}

func fillSegment(segment string) (string, error) {
	if dots(segment) > 0 {
		return "", fmt.Errorf("cleaning the path would remove the segment %q", segment)
	}
	return url.PathEscape(segment), nil
}

// fillSegments escapes each segment of a wildcard's value. The last one may be empty if
// the wildcard is the last segment of its pattern.
func fillSegments(value string, last bool) (string, error) {
	segments := strings.Split(value, "/")
	for i, segment := range segments {
		if segment == "" && !(last && i == len(segments)-1) {
			return "", fmt.Errorf("cleaning the path would remove the empty segment of %q", value)
		}
		escaped, err := fillSegment(segment)
		if err != nil {
			return "", err
		}
		segments[i] = escaped
	}
	return strings.Join(segments, "/"), nil
}
