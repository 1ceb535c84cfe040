package config

import (
	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// routeRedirectKeys returns the keys of [RouteRedirect].
func routeRedirectKeys() []key {
	return []key{
		{Path: "routes.*.redirect", Read: action(readRouteRedirect)},
		{Path: "routes.*.redirect.to", Required: "write the address, as in: redirect: {to: /new}",
			Read: yamlfile.One(scalar.Written, func(f filling) *yamlfile.Scalar { return &f.route.redirectTo })},
		{Path: "routes.*.redirect.status",
			Read: yamlfile.One(parseRedirectStatus, func(f filling) *int { return &f.route.Redirect.Status })},
		{Path: "routes.*.redirect.query", Read: yamlfile.One(yamlfile.Word([]string{QueryKeep, QueryDrop}),
			func(f filling) *string { return &f.route.Redirect.Query })},
	}
}

func readRouteRedirect(r *fileReader, p place, n *yamlfile.Node) {
	p.To.route.Redirect = &RouteRedirect{Status: redirectStatuses[""]}
	r.Fields(p, n)
	p.To.route.Redirect.To = p.To.route.redirectTo.Text
}

func parseRedirectStatus(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	status, known := redirectStatuses[s.Text]
	if !known || s.Text == "" {
		return 0, refuseRedirectStatus(s)
	}
	return status, nil
}

func refuseRedirectStatus(s yamlfile.Scalar) *yamlfile.Refusal {
	return yamlfile.Refuse("it is 301, 302, 307 or 308", "%s is not a status for redirects", yamlfile.Quote(s.Text))
}

// hop returns the redirect of a route, or nil if it has none or an invalid one, which hop
// reports.
func (d *routeDraft) hop(r *reader) *hop {
	if d.Redirect == nil || d.redirectTo.Text == "" {
		return nil
	}
	target, refused := redirect.ParseTemplate(d.Redirect.To, d.Redirect.Status, redirect.Query(d.Redirect.Query),
		template.ParsePattern(d.Match))
	if refused != nil {
		r.Refuse(d.redirectTo, refused)
		return nil
	}
	return &hop{pattern: d.Match, from: d.Match, to: d.redirectTo, target: target}
}
