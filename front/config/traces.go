package config

import (
	"strings"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/serverurl"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Traces configures the spans of requests.
type Traces struct {
	// To is the URL of the server that gets the spans, with the scheme otlp+http or otlp+https. It may contain a
	// password. Empty, the default, is none.
	To string

	// Sample is the percentage of the requests that are traced if no trusted proxy has decided, chosen by their trace
	// ids. Default 100.
	Sample float64
}

// traceKeys returns the keys of [Traces].
func traceKeys() []key {
	return []key{
		{Path: "traces", Short: "to", Off: func(f filling) { f.config.Traces.To = "" }, Read: (*fileReader).Fields},
		{Path: "traces.to", Doc: "the server that gets the spans of requests",
			Read:     func(r *fileReader, p place, n *yamlfile.Node) { readTraceServer(r, p, n) },
			Required: "name a server, as in: to: otlp+http://collector:4318"},
		{Path: "traces.sample", Doc: "the share of requests that are traced",
			Off:  func(f filling) { f.config.Traces.Sample = 0 },
			Read: one(scalar.Share, func(c *Config) *float64 { return &c.Traces.Sample })},
	}
}

// readTraceServer reads the URL of a server of OTLP.
func readTraceServer(r *fileReader, p place, n *yamlfile.Node) {
	parse := func(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
		s.Describe(yamlfile.Form{Name: "URL"})
		scheme := serverurl.Scheme(s.Text)
		if to, ok := strings.CutPrefix(s.Text, scheme+"://"); ok && (scheme == "http" || scheme == "https") {
			return "", yamlfile.Refuse("write otlp+"+scheme+"://"+serverurl.Name("x://" + to)[len("x://"):], "the URL has no otlp+")
		}
		if !strings.HasPrefix(scheme, "otlp+") {
			return "", yamlfile.Refuse("write otlp+http://collector:4318", "%s is not the URL of a server of OpenTelemetry",
				yamlfile.Quote(serverurl.Name(s.Text)))
		}
		return logto.ParseServer(r.Name(), s.Text)
	}
	yamlfile.One(parse, func(f filling) *string { return &f.config.Traces.To })(r, p, n)
}
