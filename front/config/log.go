package config

import (
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/log"
)

// logKeys returns the keys of [Log]. Hints list those of the destinations in two parts.
func logKeys() []key {
	return slices.Insert(logto.Keys("log", func(f filling) *logto.Config { return &f.config.Log.Config }), 3,
		key{Path: "log.level", Doc: "the least severe level that is written",
			Read: one(yamlfile.Word(logLevels), func(c *Config) *string { return &c.Log.Level })},
		key{Path: "log.events", Doc: "the events of each request: all, all of interesting requests, or only completed",
			Read: one(yamlfile.Word(logEvents), func(c *Config) *string { return &c.Log.Events })},
		key{Path: "log.interesting", Read: (*fileReader).Fields},
		key{Path: "log.interesting.slower_than", Doc: "the duration above which a request is interesting",
			Read: one(parseSlowerThan, func(c *Config) *time.Duration { return &c.Log.SlowerThan })},
		key{Path: "log.interesting.share", Doc: "the share of requests that are interesting anyway",
			Read: one(scalar.Share, func(c *Config) *float64 { return &c.Log.Share })},
		key{Path: "log.request_fields", Doc: "request fields in the completed event",
			Read: some(parseLogHeader, func(c *Config) *[]string { return &c.Log.RequestFields })},
		key{Path: "log.response_fields", Doc: "response fields in the completed event",
			Read: some(parseLogHeader, func(c *Config) *[]string { return &c.Log.ResponseFields })},
		key{Path: "log.redact", Doc: "query parameters whose values are hidden",
			Read: some(parseSecret, func(c *Config) *[]string { return &c.Log.Redact })},
	)
}

// The allowed words of keys.
var (
	logLevels = []string{"fatal", "error", "warn", "info", "debug"}
	logEvents = []string{EventsAll, EventsCompleted, EventsInteresting}
)

// readRouteLog reads the log of a route, which cannot be off as a whole.
func readRouteLog(r *fileReader, p place, n *yamlfile.Node) {
	if r.IsOff(n) {
		r.Mistakef(n.Pos, "write log: {events: off}", "%s cannot be off", yamlfile.Quote(p.Key.Text))
		return
	}
	r.Fields(p, n)
}

// parseSlowerThan reads a duration, or p99, which is 0.
func parseSlowerThan(s yamlfile.Scalar) (time.Duration, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Words: []string{"p99"}})
	if s.Text == "p99" {
		return 0, nil
	}
	d, refused := yamlfile.Duration(s)
	if refused != nil || d == 0 {
		return 0, yamlfile.Refuse("write a duration, as in 500ms, or p99 for the slowest percent of a route",
			"%s is not a time that a request may take", yamlfile.Quote(s.Text))
	}
	return d, nil
}

// parseSecret reads a key whose values must not be logged.
func parseSecret(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a parameter"})
	key, refused := yamlfile.Text(s)
	if refused != nil {
		return "", refused
	}
	if err := log.CheckRedactKey(key); err != nil {
		return "", yamlfile.Refuse("list names of query parameters, such as token", "%s", err)
	}
	return key, nil
}

// parseLogHeader reads the name of a header field and returns it in lower case.
func parseLogHeader(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "name of a header field", Pattern: httpsyntax.TokenPattern})
	name := strings.ToLower(s.Text)
	switch {
	case !httpsyntax.IsToken(name):
		return "", yamlfile.Refuse("write a name, as in accept-language", "%s is not the name of a header",
			yamlfile.Quote(s.Text))
	case scalar.IsSecretHeader(name):
		return "", yamlfile.Refuse("remove it", "%s contains a secret, which is never logged", yamlfile.Quote(s.Text))
	case name == "host":
		return "", yamlfile.Refuse("remove it", "every event has the Host as http.host")
	}
	return name, nil
}

// ownLogKeys are the keys that the events of a request have in data, apart from those of
// routes. docs/format.md describes them.
var ownLogKeys = []string{
	"cut", "destination", "failure", "group", "limit", "proxy_name", "redirect", "refused", "request_headers",
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
	s.Describe(yamlfile.Form{Name: "text with {parameters}"})
	_, refused := yamlfile.Text(s)
	return s, refused
}

// checkLogFields checks the values of the fields and stores them.
func (d *routeDraft) checkLogFields(r *fileReader) {
	for _, f := range d.logFields {
		_, refused := template.Parse(f.value.Text, template.Header, d.pattern)
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
