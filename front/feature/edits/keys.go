package edits

import (
	"slices"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key request_headers or response_headers: it changes the header fields of a message: first Remove,
// then Set, then Add. A name, in any case, is in only one of them.
type Config struct {
	Set    []Field  // replace all fields of their names; each name occurs once
	Add    []Field  // are added to the fields of their names
	Remove []string // names
}

// Field is a header field. Its value may contain values of the request, such as
// {id} and {request.host}.
type Field struct{ Name, Value string }

// A Draft is the edits of a message with their positions, until the pattern of the route is known.
type Draft []draft

// A draft is one edit of a field.
type draft struct {
	response    bool
	verb        string // set, add or remove
	name, value yamlfile.Scalar
}

// Keys returns the keys of a [Config] at a path, for responses or for requests. at returns where they are kept.
func Keys[T any](path string, response bool, at func(T) *Draft) []yamlfile.Key[T] {
	type (
		reader = yamlfile.Reader[T]
		place  = yamlfile.Place[T]
	)
	add := func(t T, verb string, name, value yamlfile.Scalar) {
		*at(t) = append(*at(t), draft{response, verb, name, value})
	}
	return []yamlfile.Key[T]{
		{Path: path, Read: (*reader).Fields},
		{Path: path + ".set", Read: (*reader).Names},
		{Path: path + ".set.*", AnyCase: true, Doc: "a value that replaces a header field",
			Read: func(r *reader, p place, n *yamlfile.Node) {
				if value, ok := yamlfile.ReadOne(r, p, n, parseValue); ok {
					add(p.To, "set", p.Key, value)
				}
			}},
		{Path: path + ".add", Read: (*reader).Names},
		{Path: path + ".add.*", AnyCase: true, Doc: "values that are added to a header field",
			Read: func(r *reader, p place, n *yamlfile.Node) {
				for _, element := range r.Elements(p, n) {
					if value, ok := yamlfile.ReadOne(r, p, element, parseValue); ok {
						add(p.To, "add", p.Key, value)
					}
				}
			}},
		{Path: path + ".remove", Doc: "header fields that are removed",
			Read: func(r *reader, p place, n *yamlfile.Node) {
				for _, element := range r.Elements(p, n) {
					if name, ok := yamlfile.ReadOne(r, p, element, parseName); ok {
						add(p.To, "remove", name, yamlfile.Scalar{})
					}
				}
			}},
	}
}

// parseName keeps the position of a field's name, which is checked with the other edits.
func parseName(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a header field", Pattern: httpsyntax.TokenPattern})
	return scalar.Written(s)
}

// parseValue keeps the position of a field's value.
func parseValue(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "text with {parameters}"})
	_, refused := scalar.FieldValue(s)
	return s, refused
}

// Check returns the configuration for the requests of a pattern, and reports its mistakes. writer returns the
// other key of the route that writes a field, or "".
func (d Draft) Check(f *yamlfile.File, p *template.Pattern, writer func(name string) string) (c Config) {
	for i := range d {
		e := &d[i]
		if key := writer(e.name.Text); key != "" {
			f.Mistakef(e.name.Pos, "remove it, or "+key, "%s is written by %s of the route", yamlfile.Quote(e.name.Text), key)
			continue
		}
		if refused := e.refuse(d[:i]); refused != nil {
			f.Refuse(e.name, refused)
			continue
		}
		if refused := e.refuseValue(p); refused != nil {
			f.Refuse(e.value, refused)
			continue
		}
		switch e.verb {
		case "set":
			c.Set = append(c.Set, Field{e.name.Text, e.value.Text})
		case "add":
			c.Add = append(c.Add, Field{e.name.Text, e.value.Text})
		default:
			c.Remove = append(c.Remove, e.name.Text)
		}
	}
	return c
}

// refuseValue returns why a value is invalid for the requests of a pattern, or nil.
func (e *draft) refuseValue(p *template.Pattern) *yamlfile.Refusal {
	if e.response || !httpsyntax.EqualFold(e.name.Text, "Host") {
		_, refused := template.Parse(e.value.Text, template.Header, p)
		return refused
	}
	t, refused := template.Parse(e.value.Text, template.Host, p)
	if refused != nil {
		return refused
	}
	if _, _, ok := target.SplitHost(t.Sample()); !ok {
		return yamlfile.Refuse("write a name in ASCII or an address, and a port if necessary", "%s is not a host",
			yamlfile.Quote(e.value.Text))
	}
	return nil
}

// refuse returns why a field must not be edited, or nil. before are the edits before it.
func (e *draft) refuse(before Draft) *yamlfile.Refusal {
	name := yamlfile.Quote(e.name.Text)
	if !httpsyntax.IsToken(e.name.Text) {
		return yamlfile.Refuse("write a name, as in X-Env", "%s is not the name of a header field", name)
	}
	if hint := scalar.OwnedField(e.name.Text, e.verb, e.response); hint != "" {
		return yamlfile.Refuse(hint, "%s cannot be changed", name)
	}
	if !e.response && httpsyntax.EqualFold(e.name.Text, "Set-Cookie") {
		return yamlfile.Refuse("write it in response_headers", "a request has no %s", name)
	}
	for _, other := range before {
		if httpsyntax.EqualFold(e.name.Text, other.name.Text) && (e.verb != "add" || other.verb != "add") {
			hint := "keep one of the two"
			if e.name.Pos.Outer() != nil || other.name.Pos.Outer() != nil {
				hint += "; off removes one that is inherited"
			}
			return yamlfile.Refuse(hint, "%s is in %s and in %s", name, other.verb, e.verb)
		}
	}
	return nil
}

// Fixed returns the changes that do not depend on the pattern of a route.
func (c Config) Fixed() Config {
	none := template.ParsePattern("/")
	depends := func(f Field) bool {
		_, refused := template.Parse(f.Value, template.Header, none)
		return refused != nil
	}
	c.Set, c.Add = slices.DeleteFunc(slices.Clone(c.Set), depends), slices.DeleteFunc(slices.Clone(c.Add), depends)
	return c
}
