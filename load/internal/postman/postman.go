// Package postman reads collections of Postman, in the formats 2.0 and 2.1. It runs no scripts.
package postman

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/load/internal/request"
)

// A Request is a request of a collection. Its texts are templates: those of dynamic variables, such as {{$guid}}.
type Request struct {
	Name        string // with the names of its folders
	Method, URL string // without an origin if it is a variable without a value, as {{baseUrl}} often is
	Header      []Field
	Body        string
	Form        []FormField // of a form in several parts
	Err         error       // why the request cannot be sent, or nil
}

// A Field is a field of a header.
type Field struct{ Name, Value string }

// A FormField is a value of a form.
type FormField struct{ Name, Value, ContentType string }

// collection is the format of https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html.
type collection struct {
	Info struct {
		Schema string
	}
	Item     []item
	Variable []pair
	Auth     *auth
}

type item struct {
	Name    string
	Item    []item
	Request json.RawMessage
	Auth    *auth
}

type pair struct {
	Key         string
	Value       any
	Type        string
	ContentType string
	Disabled    bool
}

// Is reports whether a JSON text is a collection.
func Is(text []byte) bool {
	var c struct {
		Info struct{ Schema string }
		Item []json.RawMessage
	}
	return json.Unmarshal(text, &c) == nil && strings.Contains(c.Info.Schema, "/collection/") && c.Item != nil
}

// Read returns the requests of a collection, in order.
func Read(text []byte) ([]Request, error) {
	var c collection
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	if !strings.Contains(c.Info.Schema, "/v2") {
		return nil, fmt.Errorf("the collection has the format %s; export it as Collection v2.1", c.Info.Schema)
	}
	r := &reader{variables: make(map[string]string)}
	for _, v := range c.Variable {
		if !v.Disabled {
			r.variables[v.Key] = v.text()
		}
	}
	r.items("", c.Item, c.Auth)
	return r.all, nil
}

func (p pair) text() string {
	if s, ok := p.Value.(string); ok {
		return s
	}
	if p.Value == nil {
		return ""
	}
	text, _ := json.Marshal(p.Value) // it was read from JSON
	return string(text)
}

type reader struct {
	variables map[string]string
	all       []Request
}

// items reads requests and folders. A folder or a request without auth has that of what it is in.
func (r *reader) items(folder string, all []item, inherited *auth) {
	for _, i := range all {
		name := strings.TrimPrefix(folder+"/"+i.Name, "/")
		if i.Request == nil {
			r.items(name, i.Item, cmp.Or(i.Auth, inherited))
			continue
		}
		out := Request{Name: name}
		out.Err = r.request(&out, i.Request, inherited)
		r.all = append(r.all, out)
	}
}

// described is a request as the collection has it.
type described struct {
	Method string
	URL    json.RawMessage
	Header json.RawMessage // a list, or a text in format 2.0
	Body   *struct {
		Mode       string
		Raw        string
		URLEncoded []pair
		FormData   []pair
		GraphQL    struct{ Query, Variables string }
		Options    struct{ Raw struct{ Language string } }
		Disabled   bool
	}
	Auth *auth
}

func (r *reader) request(out *Request, text json.RawMessage, inherited *auth) (err error) {
	var d described
	var short string
	if json.Unmarshal(text, &short) == nil { // the URL of a GET
		d.URL = text
	} else if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	out.Method = cmp.Or(d.Method, "GET")
	if out.URL, err = r.url(d.URL); err != nil {
		return err
	}
	var header []pair
	if d.Header != nil && json.Unmarshal(d.Header, &header) != nil {
		return errors.New("its header is a text; export the collection as v2.1")
	}
	for _, h := range header {
		if h.Disabled || h.Key == "" {
			continue
		}
		value, err := r.expand(h.text())
		if err != nil {
			return err
		}
		out.Header = append(out.Header, Field{h.Key, value})
	}
	return errors.Join(r.body(out, &d), r.authorize(out, cmp.Or(d.Auth, inherited)))
}

// url reads a URL: a text, or an object with the values of its path's variables.
func (r *reader) url(text json.RawMessage) (string, error) {
	var u struct {
		Raw      string
		Variable []pair
	}
	if json.Unmarshal(text, &u.Raw) != nil {
		if err := json.Unmarshal(text, &u); err != nil {
			return "", fmt.Errorf("its URL: %w", err)
		}
	}
	path, query, hasQuery := strings.Cut(u.Raw, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		name, ok := strings.CutPrefix(s, ":")
		if !ok {
			continue
		}
		v := slices.IndexFunc(u.Variable, func(p pair) bool { return p.Key == name })
		if v < 0 || u.Variable[v].text() == "" {
			return "", fmt.Errorf("the variable %s of its path has no value", name)
		}
		segments[i] = u.Variable[v].text()
	}
	raw := strings.Join(segments, "/")
	if hasQuery {
		raw += "?" + query
	}
	raw = strings.ReplaceAll(strings.TrimSpace(raw), " ", "%20")
	if origin, rest, ok := strings.Cut(raw, "}}"); ok && strings.HasPrefix(origin, "{{") {
		if _, defined := r.variables[origin[2:]]; !defined {
			return r.expand("/" + strings.TrimPrefix(rest, "/"))
		}
	}
	expanded, err := r.expand(raw)
	if err == nil && !strings.Contains(expanded, "://") {
		expanded = "http://" + expanded
	}
	return expanded, err
}

func (r *reader) body(out *Request, d *described) (err error) {
	if d.Body == nil || d.Body.Disabled {
		return nil
	}
	kind := ""
	switch d.Body.Mode {
	case "", "none":
	case "raw":
		kind = map[string]string{"json": "application/json", "xml": "application/xml", "html": "text/html",
			"javascript": "application/javascript"}[d.Body.Options.Raw.Language]
		if kind = cmp.Or(kind, "text/plain"); d.Body.Raw == "" {
			return nil
		}
		out.Body, err = r.expand(d.Body.Raw)
	case "urlencoded":
		kind = "application/x-www-form-urlencoded"
		out.Body, err = r.encoded(d.Body.URLEncoded)
	case "formdata":
		return r.form(out, d.Body.FormData)
	case "graphql":
		kind = "application/json"
		query := map[string]json.RawMessage{}
		query["query"], _ = json.Marshal(d.Body.GraphQL.Query)
		if v := d.Body.GraphQL.Variables; strings.TrimSpace(v) != "" {
			query["variables"] = json.RawMessage(v)
		}
		var text []byte
		if text, err = json.Marshal(query); err != nil {
			return fmt.Errorf("the variables of its query: %w", err)
		}
		out.Body, err = r.expand(string(text))
	default:
		return fmt.Errorf("its body is of the kind %q, which is not in the collection", d.Body.Mode)
	}
	if kind != "" && !slices.ContainsFunc(out.Header, func(f Field) bool { return strings.EqualFold(f.Name, "Content-Type") }) {
		out.Header = append(out.Header, Field{"Content-Type", kind})
	}
	return err
}

func (r *reader) encoded(all []pair) (string, error) {
	var pairs []string
	for _, p := range all {
		if p.Disabled {
			continue
		}
		value, err := r.expand(p.text())
		if err != nil {
			return "", err
		}
		pairs = append(pairs, url.QueryEscape(p.Key)+"="+escaped(value))
	}
	return strings.Join(pairs, "&"), nil
}

// escaped escapes the texts of a template for a form. Its values are digits and letters, which stay.
func escaped(template string) string {
	var b strings.Builder
	for {
		text, rest, ok := strings.Cut(template, "{{")
		b.WriteString(url.QueryEscape(text))
		if !ok {
			return b.String()
		}
		action, after, _ := strings.Cut(rest, "}}")
		if literal, err := strconv.Unquote(action); err == nil {
			b.WriteString(url.QueryEscape(literal))
		} else {
			b.WriteString("{{" + action + "}}")
		}
		template = after
	}
}

func (r *reader) form(out *Request, all []pair) error {
	for _, p := range all {
		switch {
		case p.Disabled:
			continue
		case p.Type == "file":
			return fmt.Errorf("the file of its form, %q, is not in the collection", p.Key)
		}
		value, err := r.expand(p.text())
		if err != nil {
			return err
		}
		out.Form = append(out.Form, FormField{request.EscapeTemplate(p.Key), value, p.ContentType})
	}
	return nil
}

// auth is how requests are authorized: a list of parameters, or an object in format 2.0, below the name of the type.
type auth struct {
	Type       string
	Parameters map[string]string
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *auth) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	if all["type"] == nil {
		return nil
	}
	if err := json.Unmarshal(all["type"], &a.Type); err != nil {
		return err
	}
	a.Parameters = make(map[string]string)
	var list []pair
	var object map[string]any
	switch parameters := all[a.Type]; {
	case json.Unmarshal(parameters, &list) == nil:
		for _, p := range list {
			a.Parameters[p.Key] = p.text()
		}
	case json.Unmarshal(parameters, &object) == nil:
		for _, key := range slices.Sorted(maps.Keys(object)) {
			a.Parameters[key] = pair{Value: object[key]}.text()
		}
	}
	return nil
}

func (r *reader) authorize(out *Request, a *auth) error {
	if a == nil {
		return nil
	}
	values := make(map[string]string)
	for _, key := range slices.Sorted(maps.Keys(a.Parameters)) {
		value, err := r.expand(a.Parameters[key])
		if err != nil {
			return err
		}
		values[key] = value
	}
	switch a.Type {
	case "", "noauth":
	case "basic":
		secret := base64.StdEncoding.EncodeToString([]byte(values["username"] + ":" + values["password"]))
		out.Header = append(out.Header, Field{"Authorization", "Basic " + secret})
	case "bearer":
		out.Header = append(out.Header, Field{"Authorization", "Bearer " + values["token"]})
	case "apikey":
		if values["in"] != "query" {
			out.Header = append(out.Header, Field{values["key"], values["value"]})
			return nil
		}
		separator := "?"
		if strings.Contains(out.URL, "?") {
			separator = "&"
		}
		out.URL += separator + values["key"] + "=" + values["value"]
	default:
		return fmt.Errorf("its authorization is of the type %s; give the field with -H", a.Type)
	}
	return nil
}

// dynamic are the templates for Postman's own variables.
var dynamic = map[string]string{"$guid": "{{uuid}}", "$randomUUID": "{{uuid}}", "$randomInt": "{{rand 0 1000}}"}

// expand replaces the variables of a text, and makes it a template.
func (r *reader) expand(text string) (string, error) { return r.expandWithin(text, nil) }

// expandWithin is expand in the values of the variables that are open.
func (r *reader) expandWithin(text string, open []string) (string, error) {
	const longest = 1 << 20 // of a text; variables of variables can make it much longer than the file
	var b strings.Builder
	for b.Len() < longest {
		before, rest, ok := strings.Cut(text, "{{")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok {
			b.WriteString(request.EscapeTemplate("{{"))
			text = rest
			continue
		}
		value, ok := dynamic[name]
		if own, defined := r.variables[name]; !ok && defined {
			if slices.Contains(open, name) {
				return "", fmt.Errorf("the variable %s has itself as a value", name)
			}
			var err error
			if value, err = r.expandWithin(own, append(open, name)); err != nil {
				return "", err
			}
			ok = true
		}
		if !ok {
			return "", fmt.Errorf("the variable %s has no value in the collection; add it there", name)
		}
		b.WriteString(value)
		text = after
	}
	return "", errors.New("a text of it is longer than 1 MiB, with the values of its variables")
}
