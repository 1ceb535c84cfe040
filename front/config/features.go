package config

import (
	"slices"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/compress"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/feature/rewrite"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/internal/yamlfile"
)

// featureKeys returns the keys of the features of routes, and those of their conditions.
func featureKeys() []key {
	return slices.Concat(
		local(access.Keys("routes.*.access", func(f filling) **access.Config { return &f.route.access })),
		basicauth.Keys("routes.*.basic_auth",
			func(f filling) **basicauth.Config { return &f.route.BasicAuth }, filling.userFile),
		compress.Keys("routes.*.compress", func(f filling) **compress.Config { return &f.route.Compress }),
		cors.Keys("routes.*.cors", func(f filling) **cors.Config { return &f.route.CORS }),
		conditionKeys(condition.Keys("routes.*.when", func(f filling) *condition.Set { return &f.route.When })),
		forwardedKeys(edits.Keys("routes.*.request_headers", false,
			func(f filling) *edits.Draft { return &f.route.requestEdits })),
		edits.Keys("routes.*.response_headers", true, func(f filling) *edits.Draft { return &f.route.responseEdits }),
		errorpages.Keys("routes.*.error_pages",
			func(f filling) **errorpages.Config { return &f.route.ErrorPages }, filling.pageFile),
		actionKeys(files.Keys("routes.*.files", func(f filling) **files.Config { return &f.route.Files })),
		then(forwardauth.Keys("routes.*.forward_auth", func(f filling) **forwardauth.Config { return &f.route.ForwardAuth },
			func(f filling) *yamlfile.Scalar { return &f.route.authTo }), (*routeDraft).noteForwardAuth),
		httpsredirect.Keys("tls", func(f filling) *httpsredirect.Draft { return &f.https }),
		httpsredirect.PlainKeys("routes.*.plain_http", func(f filling) *bool { return &f.route.PlainHTTP },
			func(f filling) *httpsredirect.Draft { return &f.https }),
		maintenance.Keys("routes.*.maintenance",
			func(f filling) **maintenance.Config { return &f.route.Maintenance }, filling.pageFile),
		then(mirror.Keys("routes.*.mirror", func(f filling) **mirror.Config { return &f.route.Mirror },
			func(f filling) *yamlfile.Scalar { return &f.route.mirrorTo }), (*routeDraft).noteMirror, forwards...),
		actionKeys(redirects.Keys("routes.*.redirect", func(f filling) **redirects.Config { return &f.route.Redirect },
			func(f filling) *yamlfile.Scalar { return &f.route.redirectTo })),
		actionKeys(respond.Keys("routes.*.respond", func(f filling) **respond.Config { return &f.route.Respond })),
		forwardedKeys(rewrite.Keys("routes.*", func(f filling) *rewrite.Draft { return &f.route.rewriteDraft })),
		actionKeys(split.Keys("routes.*.split", func(f filling) *[]split.Share { return &f.route.Split },
			func(f filling) *[]yamlfile.Scalar { return &f.route.others })),
		then(split.StickyKeys("routes.*.sticky_split",
			func(f filling) **split.Sticky { return &f.route.StickySplit }), (*routeDraft).noteSticky, "split"),
	)
}

// conditionKeys notes whether the conditions of a route have a mistake.
func conditionKeys(keys []key) []key {
	read := keys[0].Read
	keys[0].Read = func(r *fileReader, p place, n *yamlfile.Node) {
		before := r.Reports()
		read(r, p, n)
		p.To.route.badWhen = r.Reports() > before
	}
	return keys
}

// actionKeys makes the first one of keys the key of an action.
func actionKeys(keys []key) []key {
	keys[0].Read = action(keys[0].Read)
	return keys
}

// forwardedKeys marks those of keys that are directly in a route as keys that apply only to forwarded requests.
func forwardedKeys(keys []key) []key {
	for i := range keys {
		if route, _ := keys[i].Parent(); route == routePath {
			keys[i].With = forwards
		}
	}
	return keys
}

// local makes the first one of keys a key that each place has for itself: its refusals add up.
func local(keys []key) []key {
	keys[0].Local, keys[0].AddsUp = true, true
	return keys
}

// then has a function called with the first one of keys after that was read in a route. The key has a meaning only with
// some actions.
func then(keys []key, note func(d *routeDraft, key yamlfile.Scalar), with ...string) []key {
	read := keys[0].Read
	keys[0].With = with
	keys[0].Read = func(r *fileReader, p place, n *yamlfile.Node) {
		read(r, p, n)
		note(p.To.route, p.Key)
	}
	return keys
}

func (d *routeDraft) noteSticky(key yamlfile.Scalar) { d.sticky = key.Pos }

func (d *routeDraft) noteForwardAuth(key yamlfile.Scalar) {
	d.others, d.authKey = append(d.others, d.authTo), key
}

func (d *routeDraft) noteMirror(yamlfile.Scalar) {
	d.others = append(d.others, d.mirrorTo)
}
