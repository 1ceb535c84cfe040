package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/rewrite"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// editKeys returns the keys of a route that change its requests and responses.
func editKeys() []key {
	keys := []key{
		{Path: "routes.*.strip_prefix",
			Read: ofForwarded(yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.route.strip }))},
		{Path: "routes.*.add_prefix",
			Read: ofForwarded(yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.route.add }))},
		{Path: "routes.*.rewrite",
			Read: ofForwarded(yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.route.rewrite }))},
	}
	for _, message := range []struct {
		path     string
		read     readFunc
		response bool
	}{
		{"routes.*.request_headers", ofForwarded((*fileReader).Fields), false},
		{"routes.*.response_headers", (*fileReader).Fields, true},
	} {
		keys = append(keys,
			key{Path: message.path, Read: message.read},
			key{Path: message.path + ".set", Read: (*fileReader).Names},
			key{Path: message.path + ".set.*", Read: readSetField(message.response)},
			key{Path: message.path + ".add", Read: (*fileReader).Names},
			key{Path: message.path + ".add.*", Read: readAddedField(message.response)},
			key{Path: message.path + ".remove", Read: readRemovedFields(message.response)})
	}
	return keys
}

// ofForwarded returns the function that reads a key that applies only to forwarded requests.
func ofForwarded(read readFunc) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		p.To.route.forwarded = append(p.To.route.forwarded, p.Key)
		read(r, p, n)
	}
}

func readSetField(response bool) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		if value, ok := yamlfile.ReadOne(r, p, n, fieldTemplate); ok {
			p.To.route.addField(fieldDraft{response, "set", p.Key, value})
		}
	}
}

// readAddedField reads a value, or several.
func readAddedField(response bool) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		for _, element := range r.Elements(p, n) {
			if value, ok := yamlfile.ReadOne(r, p, element, fieldTemplate); ok {
				p.To.route.addField(fieldDraft{response, "add", p.Key, value})
			}
		}
	}
}

func readRemovedFields(response bool) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		for _, element := range r.Elements(p, n) {
			if name, ok := yamlfile.ReadOne(r, p, element, scalar.Written); ok {
				p.To.route.addField(fieldDraft{response, "remove", name, yamlfile.Scalar{}})
			}
		}
	}
}

func (d *routeDraft) addField(f fieldDraft) { d.fields = append(d.fields, f) }

// fieldTemplate keeps the position of a field's value.
func fieldTemplate(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	_, refused := scalar.FieldValue(s)
	return s, refused
}

// checkEdits checks the edits of a route and stores them.
func (d *routeDraft) checkEdits(r *fileReader) {
	if len(d.forwarded) > 0 && len(d.actions) == 1 && d.To == "" && d.Split == nil {
		r.Mistakef(d.forwarded[0].Pos, "remove it, or forward the requests with to",
			"%s applies only to requests that are forwarded", yamlfile.Quote(d.forwarded[0].Text))
	}
	d.checkForwardAuth(r)
	p := template.ParsePattern(d.Match)
	d.checkPath(r, p)
	for i, f := range d.fields {
		if key := d.writer(&f); key != "" {
			r.Mistakef(f.name.Pos, "remove it, or "+key, "%s is written by %s of the route", yamlfile.Quote(f.name.Text), key)
			continue
		}
		if refused := f.refuse(d.fields[:i]); refused != nil {
			r.Refuse(f.name, refused)
			continue
		}
		if refused := f.refuseValue(p); refused != nil {
			r.Refuse(f.value, refused)
			continue
		}
		edits := &d.RequestHeaders
		if f.response {
			edits = &d.ResponseHeaders
		}
		switch f.verb {
		case "set":
			edits.Set = append(edits.Set, Field{f.name.Text, f.value.Text})
		case "add":
			edits.Add = append(edits.Add, Field{f.name.Text, f.value.Text})
		default:
			edits.Remove = append(edits.Remove, f.name.Text)
		}
	}
}

// writer returns the other key of the route that writes a field, or "".
func (d *routeDraft) writer(f *fieldDraft) string {
	is := func(name string) bool { return sameSent(name, f.name.Text) }
	switch {
	case f.response && d.CORS != nil && strings.HasPrefix(strings.ToLower(f.name.Text), "access-control-"):
		return "cors"
	case f.response:
	case d.BasicAuth != nil && is(d.BasicAuth.UserHeader):
		return "basic_auth"
	case d.ForwardAuth != nil && slices.ContainsFunc(d.ForwardAuth.Copy, is):
		return "forward_auth"
	}
	return ""
}

// checkForwardAuth refuses fields that both forms of authentication write.
func (d *routeDraft) checkForwardAuth(r *fileReader) {
	if d.ForwardAuth == nil || d.BasicAuth == nil {
		return
	}
	for _, name := range d.ForwardAuth.Copy {
		if sameSent(name, d.BasicAuth.UserHeader) {
			r.Mistakef(d.authKey.Pos, "choose another name for one of them",
				"forward_auth copies %s, which is also the user_header of basic_auth", yamlfile.Quote(name))
		}
	}
}

// sameSent reports whether many services do not distinguish the names of two request fields.
func sameSent(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", "-"), strings.ReplaceAll(b, "_", "-"))
}

// checkPath checks the edits of the path.
func (d *routeDraft) checkPath(r *fileReader, p *template.Pattern) {
	d.StripPrefix, d.AddPrefix, d.Rewrite = d.strip.Text, d.add.Text, d.rewrite.Text
	_, refused := rewrite.Parse(d.StripPrefix, d.AddPrefix, d.Rewrite, p)
	for i, value := range []yamlfile.Scalar{d.strip, d.add, d.rewrite} {
		if refused[i] != nil {
			r.Refuse(value, refused[i])
		}
	}
}

// refuseValue returns why a value is invalid for the requests of a pattern, or nil.
func (f *fieldDraft) refuseValue(p *template.Pattern) *yamlfile.Refusal {
	if f.response || !httpsyntax.EqualFold(f.name.Text, "Host") {
		_, refused := template.Parse(f.value.Text, template.Header, p)
		return refused
	}
	t, refused := template.Parse(f.value.Text, template.Host, p)
	if refused != nil {
		return refused
	}
	if _, _, ok := target.SplitHost(t.Sample()); !ok {
		return yamlfile.Refuse("write a name in ASCII or an address, and a port if necessary", "%s is not a host",
			yamlfile.Quote(f.value.Text))
	}
	return nil
}

// refuse returns why a field must not be edited, or nil. before are the edits before it.
func (f *fieldDraft) refuse(before []fieldDraft) *yamlfile.Refusal {
	name := yamlfile.Quote(f.name.Text)
	if !httpsyntax.IsToken(f.name.Text) {
		return yamlfile.Refuse("write a name, as in X-Env", "%s is not the name of a header field", name)
	}
	if hint := scalar.OwnedField(f.name.Text, f.verb, f.response); hint != "" {
		return yamlfile.Refuse(hint, "%s cannot be changed", name)
	}
	if !f.response && httpsyntax.EqualFold(f.name.Text, "Set-Cookie") {
		return yamlfile.Refuse("write it in response_headers", "a request has no %s", name)
	}
	for _, other := range before {
		if f.response == other.response && httpsyntax.EqualFold(f.name.Text, other.name.Text) &&
			(f.verb != "add" || other.verb != "add") {
			return yamlfile.Refuse("keep one of the two", "%s is in %s and in %s", name, other.verb, f.verb)
		}
	}
	return nil
}
