package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// ownLogKeys are the keys that the events of a request have in data, apart from those of
// routes. docs/format.md describes them.
var ownLogKeys = []string{
	"cut", "destination", "failure", "limit", "proxy_name", "redirect", "refused", "request_headers",
	"response_headers", "retried", "retry_denied", "upstream_path", "user",
}

func readLogFields(r *fileReader, p place, n *yamlfile.Node) {
	if !r.RefuseEmpty(p, n) {
		r.Names(p, n)
	}
}

func readLogField(r *fileReader, p place, n *yamlfile.Node) {
	name := p.Key.Text
	switch {
	case !scalar.IsName(name) || strings.Contains(name, "."):
		r.Mistakef(p.Key.Pos, "a name has letters, digits, '_' and '-'", "%s cannot name a field of the log",
			yamlfile.Quote(name))
	case slices.Contains(ownLogKeys, name):
		r.Mistakef(p.Key.Pos, "choose another name", "events have a field %s of their own", yamlfile.Quote(name))
	}
	if value, ok := yamlfile.ReadOne(r, p, n, logText); ok {
		p.To.route.logFields = append(p.To.route.logFields, logFieldDraft{p.Key, value})
	}
}

// logText reads a text and keeps its position.
func logText(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	_, refused := yamlfile.Text(s)
	return s, refused
}

// checkLogFields checks the values of the fields and stores them.
func (d *routeDraft) checkLogFields(r *fileReader) {
	pattern := template.ParsePattern(d.Match)
	for _, f := range d.logFields {
		_, refused := template.Parse(f.value.Text, template.Header, pattern)
		switch at := strings.Index(f.value.Text, "{request.query}"); {
		case refused != nil:
			r.Refuse(f.value, refused)
		case at >= 0:
			r.Mistakef(r.Within(f.value, at), "remove it",
				"events have the query as http.query, without the secrets of log.redact")
		default:
			d.LogFields = append(d.LogFields, Field{f.key.Text, f.value.Text})
		}
	}
}
