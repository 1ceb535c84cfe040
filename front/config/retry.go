package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/proxy"
)

var retryKeys = []key{
	{Path: "upstreams.*.retry", Read: (*fileReader).Fields},
	{Path: "upstreams.*.retry.attempts",
		Read: yamlfile.One(parseAttempts, func(f filling) *int { return &f.upstream.Retry.Attempts })},
	{Path: "upstreams.*.retry.methods", Ambiguous: true,
		Read: yamlfile.Some(parseRetryMethod, func(f filling) *[]string { return &f.upstream.Retry.Methods })},
	{Path: "upstreams.*.retry.on",
		Read: yamlfile.Some(parseRetryReason, func(f filling) *[]string { return &f.upstream.Retry.On })},
}

func parseAttempts(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	n, refused := yamlfile.Count(s)
	if refused == nil && (n < 1 || n > proxy.MaxAttempts) {
		return 0, yamlfile.Refuse(fmt.Sprintf("write 1, to send each request once, to %d", proxy.MaxAttempts),
			"%s is not a number of attempts", yamlfile.Quote(s.Text))
	}
	return n, refused
}

// parseRetryMethod reads a method whose requests may be sent again.
func parseRetryMethod(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	const hint = "it is GET, HEAD, OPTIONS, PUT or DELETE"
	switch method := strings.ToUpper(s.Text); {
	case method == "GET", method == "HEAD", method == "OPTIONS", method == "PUT", method == "DELETE":
		return method, nil
	case method == "POST", method == "PATCH":
		return "", yamlfile.Refuse(hint, "a %s that is sent twice can be carried out twice", method)
	case httpsyntax.IsToken([]byte(s.Text)):
		return "", yamlfile.Refuse(hint, "%s is not a method that can be sent again", yamlfile.Quote(s.Text))
	}
	return "", yamlfile.Refuse(hint, "%s is not a method", yamlfile.Quote(s.Text))
}

var retryReasons = []string{string(proxy.RetryReset), string(proxy.RetryTimeout), string(proxy.Retry502),
	string(proxy.Retry503), string(proxy.Retry504)}

func parseRetryReason(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	switch s.Text {
	case "connect":
		return "", yamlfile.Refuse("remove it; connect.retry sets for how long",
			"a server that cannot be connected to is always replaced by another, for all methods")
	case string(proxy.RetryStale):
		return "", yamlfile.Refuse("remove it", "a stale connection is always replaced, unless attempts is 1")
	}
	return yamlfile.Word(retryReasons)(s)
}

// timeoutKeys are the timeouts of a route.
var timeoutKeys = []key{
	{Path: "routes.*.timeout", Read: ofForwarded(readRouteTimeout)},
	{Path: "routes.*.timeout.silence", Read: readSilence},
	{Path: "routes.*.timeout.try",
		Read: yamlfile.One(scalar.Timeout, func(f filling) *time.Duration { return &f.route.TryTimeout })},
	{Path: "routes.*.timeout.total",
		Read: yamlfile.One(scalar.Timeout, func(f filling) *time.Duration { return &f.route.TotalTimeout })},
}

var readSilence = yamlfile.One(scalar.Timeout, func(f filling) *time.Duration { return &f.route.Timeout })

// readRouteTimeout reads a mapping, or a duration as the silence.
func readRouteTimeout(r *fileReader, p place, n *yamlfile.Node) {
	if n.Kind == yamlfile.Single {
		readSilence(r, p, n)
		return
	}
	r.Fields(p, n)
	if d := p.To.route; d.TotalTimeout > 0 && d.TryTimeout >= d.TotalTimeout {
		r.Mistakef(n.Pos, "make try shorter than total", "a try of %v never ends before the total of %v", d.TryTimeout,
			d.TotalTimeout)
	}
}
