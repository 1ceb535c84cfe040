package config

import (
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/target"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// forwardAuthKeys are the keys of [ForwardAuth].
var forwardAuthKeys = []key{
	{Path: "routes.*.forward_auth", Read: readForwardAuth},
	{Path: "routes.*.forward_auth.to", Ambiguous: true,
		Required: "name the upstream of the service, as in: forward_auth: {to: auth, path: /verify}",
		Read:     yamlfile.One(asWritten, func(f filling) *yamlfile.Scalar { return &f.route.authTo })},
	{Path: "routes.*.forward_auth.path", Required: "name the path of the service, as in: path: /verify",
		Read: yamlfile.One(parseAuthPath, func(f filling) *string { return &f.route.ForwardAuth.Path })},
	{Path: "routes.*.forward_auth.timeout", Ambiguous: true,
		Read: yamlfile.One(parseTimeout, func(f filling) *time.Duration { return &f.route.ForwardAuth.Timeout })},
	{Path: "routes.*.forward_auth.request_headers", Ambiguous: true,
		Read: yamlfile.Some(parseHeaderName, func(f filling) *[]string { return &f.route.ForwardAuth.RequestHeaders })},
	{Path: "routes.*.forward_auth.copy",
		Read: yamlfile.Some(parseSentHeader, func(f filling) *[]string { return &f.route.ForwardAuth.Copy })},
}

func readForwardAuth(r *fileReader, p place, n *yamlfile.Node) {
	d := p.To.route
	d.ForwardAuth = &ForwardAuth{Timeout: 10 * time.Second}
	r.Fields(p, n)
	d.ForwardAuth.To = d.authTo.Text
	d.others = append(d.others, d.authTo)
	d.authKey = p.Key
}

// parseAuthPath reads the target of the requests to a service.
func parseAuthPath(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	path, _, _ := strings.Cut(s.Text, "?")
	switch {
	case !strings.HasPrefix(path, "/") || strings.ContainsAny(s.Text, " #") || !httpsyntax.IsPlain(s.Text):
		return "", yamlfile.Refuse("write a path, as in /verify", "%s is not a path", yamlfile.Quote(s.Text))
	case target.CheckPath(path) != "":
		return "", yamlfile.Refuse("write it without that", "%s: %s", yamlfile.Quote(s.Text), target.CheckPath(path))
	}
	return s.Text, nil
}
