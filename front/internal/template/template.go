// Package template makes texts from the values of a request: the parameters of its route's
// pattern, as in {id}, and variables, as in {request.host}. {{ and }} are braces.
//
// A parameter is inserted as the client sent it, with its percent-encoding: nothing is decoded
// and encoded again. The [Place] of a text determines the characters that are encoded in
// addition, so that no value of a client can end the part of the text that it is in.
package template

import (
	"bytes"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// A Place is the part of a message that a text is for.
type Place uint8

// The places. The text of a URL is printable ASCII. The text of a header field is too,
// except for the literal text of the template.
const (
	Header Place = iota // the value of a header field
	Path                // the path of a URL
	Query               // the query or the fragment of a URL
	Host                // the host of a URL or in a Host field
)

// Values are the values of a request.
type Values struct {
	Params      *router.Params // of the lookup that has found the pattern
	Path, Query string         // of the target, escaped
	Host        string         // the name, without a port; an IPv6 address without brackets
	Method, ID  string
	Client      netip.Addr
}

// A Template is a parsed template. It does not change, so goroutines may share it.
type Template struct {
	place   Place
	pattern *Pattern
	parts   []part
}

// A part is a literal text or a value.
type part struct {
	source source
	text   string // of a literal
	param  int    // index in the pattern
}

// A source is the origin of a part.
type source uint8

const (
	literal source = iota
	parameter
	requestHost
	requestMethod
	requestPath
	requestQuery
	requestID
	clientAddress
)

var variables = map[string]source{
	"client.address": clientAddress,
	"request.host":   requestHost,
	"request.id":     requestID,
	"request.method": requestMethod,
	"request.path":   requestPath,
	"request.query":  requestQuery,
}

// Parse parses a template for the requests that match a pattern. A literal text for a path or
// a query is encoded where necessary.
func Parse(text string, place Place, p *Pattern) (*Template, *yamlfile.Refusal) {
	t := &Template{place: place, pattern: p}
	if refused := refuseNginx(text, place != Header); refused != nil {
		return nil, refused
	}
	if refused := refuseHAProxy(text); refused != nil {
		return nil, refused
	}
	var plain []byte
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == '}' && !strings.HasPrefix(text[at:], "}}"):
			return nil, yamlfile.Refuse("write }} for the character itself", "a } without {").At(at)
		case c == '{' && !strings.HasPrefix(text[at:], "{{"):
			end := strings.IndexByte(text[at:], '}')
			if end < 0 {
				return nil, yamlfile.Refuse("write {{ for the character itself", "a { without }").At(at)
			}
			value, refused := t.parseName(text[at+1 : at+end])
			if refused != nil {
				return nil, refused.At(at)
			}
			t.addText(plain)
			t.parts, plain = append(t.parts, value), plain[:0]
			at += end + 1
		case c == '{' || c == '}':
			plain = append(plain, c)
			at += 2
		default:
			plain = append(plain, c)
			at++
		}
	}
	t.addText(plain)
	return t, nil
}

// addText adds a literal text, unless it is empty.
func (t *Template) addText(text []byte) {
	if len(text) == 0 {
		return
	}
	if t.place == Path || t.place == Query {
		text = appendEncoded(nil, string(text), &inURL)
	}
	t.parts = append(t.parts, part{text: string(text)})
}

// parseName parses the text between braces.
func (t *Template) parseName(name string) (part, *yamlfile.Refusal) {
	if i := slices.Index(t.pattern.names, name); i >= 0 {
		if t.place == Host && i >= t.pattern.inHost {
			return part{}, yamlfile.Refuse("write a host, {request.host} or a parameter of the pattern's host",
				"the parameter {%s} of the path would let a request choose the host", name)
		}
		return part{source: parameter, param: i}, nil
	}
	s, known := variables[name]
	switch {
	case !known && t.pattern.any && !strings.ContainsAny(name, ".:"):
		return part{source: parameter}, nil
	case !known:
		return part{}, t.refuseName(name)
	case t.place == Host && s != requestHost, t.place == Path && (s == requestPath || s == requestQuery):
		return part{}, yamlfile.Refuse("use a parameter of the pattern", "{%s} cannot be in this place", name)
	}
	return part{source: s}, nil
}

func (t *Template) refuseName(name string) *yamlfile.Refusal {
	names := slices.Concat(t.pattern.names, slices.Sorted(maps.Keys(variables)))
	hint := "there are {" + strings.Join(names, "}, {") + "}; write {{ for the character itself"
	if own := parameterName(name); own != name && slices.Contains(t.pattern.names, own) {
		hint = "write {" + own + "}"
	} else if slices.Contains(names, "request."+name) {
		hint = "write {request." + name + "}"
	} else if near := nearest.Word(name, names); near != "" {
		hint = "did you mean {" + near + "}?"
	}
	return yamlfile.Refuse(hint, "the pattern has no parameter %s, and there is no such variable", yamlfile.Quote(name))
}

// Text returns the text of a template without values, and reports whether it has none.
func (t *Template) Text() (text string, ok bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].source == literal:
		return t.parts[0].text, true
	}
	return "", false
}

// Sample returns the text with an "x" for each value.
func (t *Template) Sample() string {
	var b strings.Builder
	for i := range t.parts {
		if p := &t.parts[i]; p.source == literal {
			b.WriteString(p.text)
		} else {
			b.WriteByte('x')
		}
	}
	return b.String()
}

// Longest is the maximum length of a text in bytes. It is the limit of a request's head, so
// that only a template with a long value several times can exceed it.
const Longest = 64 << 10

// The errors of Append.
var (
	ErrTooLong = errors.New("the text made of the request's values is too long")
	ErrSlashes = errors.New("a value begins or ends with a slash next to another one")
)

// Append appends the text for a request. The error is ErrTooLong; or ErrSlashes if a slash
// follows another one where a value begins or ends in a path, so that a server may see another
// path, or even a host. The text is then complete, but has only the first of the slashes. An
// escaped slash (%2F) counts as a slash, but it and a slash after it stay.
func (t *Template) Append(dst []byte, v *Values) (_ []byte, err error) {
	begin := len(dst)
	for i := range t.parts {
		p := &t.parts[i]
		text := t.value(p, v)
		if t.place == Path && beginsWithSlash(text) && endsInSlash(dst[begin:]) {
			if err = ErrSlashes; dst[len(dst)-1] == '/' {
				text = strings.TrimLeft(text, "/")
			}
		}
		switch {
		case p.source == clientAddress && v.Client.IsValid():
			dst = v.Client.AppendTo(dst)
		case p.source == requestHost && strings.IndexByte(text, ':') >= 0:
			dst = append(append(append(dst, '['), text...), ']')
		default:
			dst = appendEncoded(dst, text, t.encoded(p))
		}
		if len(dst)-begin > Longest {
			return dst, ErrTooLong
		}
	}
	return dst, err
}

// value returns the value of a part, which is the literal text or not encoded yet.
func (t *Template) value(p *part, v *Values) string {
	switch p.source {
	case parameter:
		return t.pattern.escaped(v.Path, v.Params, p.param)
	case requestHost:
		return v.Host
	case requestMethod:
		return v.Method
	case requestPath:
		return v.Path
	case requestQuery:
		return v.Query
	case requestID:
		return v.ID
	}
	return p.text
}

// encoded returns the characters that are encoded in a part.
func (t *Template) encoded(p *part) *byteSet {
	switch fromURL := p.source == requestPath || p.source == parameter && p.param >= t.pattern.inHost; {
	case p.source == literal || t.place == Host:
		return &none
	case t.place == Header:
		return &inHeader
	case p.source == requestQuery:
		return &inURL
	case t.place == Path && fromURL:
		return &inURL
	case t.place == Path:
		return &inSegment
	case fromURL:
		return &inQuery
	}
	return &inQueryValue
}

func beginsWithSlash(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "%2F") || strings.HasPrefix(s, "%2f")
}

func endsInSlash(b []byte) bool {
	return bytes.HasSuffix(b, []byte("/")) || bytes.HasSuffix(b, []byte("%2F")) || bytes.HasSuffix(b, []byte("%2f"))
}
