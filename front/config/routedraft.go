package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/rewrite"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/internal/routetable"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/internal/yamlfile"
)

// routeDraft is a route and the positions of its keys in the file.
type routeDraft struct {
	Route
	match, to yamlfile.Scalar
	pattern   *template.Pattern // any one for the values of a scope
	parts     []*patternPart    // of the pattern
	again     bool              // the route is the same as the one before it, with another pattern
	access    *access.Config    // its own
	badWhen   bool              // the conditions have a mistake
	actions   []yamlfile.Scalar // the keys of actions, in file order
	others    []yamlfile.Scalar // names of further upstreams
	authTo    yamlfile.Scalar   // the upstream of forward_auth
	authKey   yamlfile.Scalar   // the key forward_auth
	sticky    yamlfile.Pos      // of the key
	mirrorTo  yamlfile.Scalar   // the upstream of mirror
	logFields []logFieldDraft

	redirectTo                  yamlfile.Scalar
	rewriteDraft                rewrite.Draft
	requestEdits, responseEdits edits.Draft
	forwarded                   []yamlfile.Scalar // keys that apply only to forwarded requests
}

// action returns the function that reads a key of a route of which it has exactly one.
func action(read readFunc) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		p.To.route.actions = append(p.To.route.actions, p.Key)
		read(r, p, n)
	}
}

// checkAction checks that a route, the mapping n at p, has exactly one action.
func (d *routeDraft) checkAction(r *fileReader, p place, n *yamlfile.Node) {
	const hint = "a route has one of to, split, redirect, respond and files"
	switch {
	case len(d.actions) == 0 && (n.IsPartial() || n.Kind != yamlfile.Mapping):
	case len(d.actions) == 0:
		r.Mistakef(p.Key.Pos, hint, "the route has no action")
	case len(d.actions) > 1:
		r.Mistakef(d.actions[1].Pos, hint, "%s is a second action of the route, after %s",
			yamlfile.Quote(d.actions[1].Text), yamlfile.Quote(d.actions[0].Text))
	}
	if d.StickySplit != nil && !d.has("split") {
		r.Mistakef(d.sticky, "remove it, or replace the action by a split", "only a split has clients to be kept")
	}
}

// has reports whether a key is an action of the route.
func (d *routeDraft) has(action string) bool {
	return slices.ContainsFunc(d.actions, func(k yamlfile.Scalar) bool { return k.Text == action })
}

// checkCookies reports a route whose sticky has the same cookie as that of an upstream of its
// split. Each of the two would replace the cookie of the other.
func (r *reader) checkCookies(d *routeDraft) {
	if d.StickySplit == nil {
		return
	}
	for _, share := range d.Split {
		for _, u := range r.config.Upstreams {
			if u.Name == share.To && u.Sticky != nil && u.Sticky.Cookie == d.StickySplit.Cookie {
				r.Mistakef(d.sticky, "give one of them another cookie",
					"the route and the upstream %s use the same cookie %s", yamlfile.Quote(u.Name), yamlfile.Quote(u.Sticky.Cookie))
			}
		}
	}
}

// checkForwarded checks that a route, the mapping n, forwards requests if it has keys for forwarded requests.
func (d *routeDraft) checkForwarded(r *fileReader, n *yamlfile.Node) {
	for _, pair := range n.Pairs {
		if k, _ := r.KeyOf(routePath, pair.Key.Text); slices.Equal(k.With, forwards) {
			d.forwarded = append(d.forwarded, pair.Key)
		}
	}
	if len(d.forwarded) > 0 && len(d.actions) == 1 && d.To == "" && d.Split == nil {
		r.Mistakef(d.forwarded[0].Pos, "remove it, or forward the requests with to",
			"%s applies only to requests that are forwarded", yamlfile.Quote(d.forwarded[0].Text))
	}
}

// checkPattern checks the values with parameters of the pattern, and stores them.
func (d *routeDraft) checkPattern(r *fileReader) {
	d.checkForwardAuth(r)
	d.Rewrite = d.rewriteDraft.Check(r.File, d.pattern)
	d.RequestHeaders = d.requestEdits.Check(r.File, d.pattern, d.requestWriter)
	d.ResponseHeaders = d.responseEdits.Check(r.File, d.pattern, d.responseWriter)
	d.checkLogFields(r)
}

// requestWriter returns the key of the route, beside request_headers, that writes a field of its requests, or "".
func (r *Route) requestWriter(name string) string {
	switch is := func(other string) bool { return sameSent(other, name) }; {
	case r.BasicAuth != nil && is(r.BasicAuth.UserHeader):
		return "basic_auth"
	case r.ForwardAuth != nil && slices.ContainsFunc(r.ForwardAuth.Copy, is):
		return "forward_auth"
	}
	return ""
}

// responseWriter returns the key of the route, beside response_headers, that writes a field of its responses, or "".
func (r *Route) responseWriter(name string) string {
	if r.CORS != nil && strings.HasPrefix(strings.ToLower(name), "access-control-") {
		return "cors"
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

// checkMirror checks that a route does not forward its requests to its mirror itself.
func (d *routeDraft) checkMirror(r *fileReader) {
	if d.Mirror == nil {
		return
	}
	switch {
	case d.Mirror.To == "":
	case d.Mirror.To == d.To || slices.ContainsFunc(d.Split, func(s split.Share) bool { return s.To == d.Mirror.To }):
		r.Mistakef(d.mirrorTo.Pos, "name another upstream",
			"the route forwards to %s, which would get each request twice", yamlfile.Quote(d.Mirror.To))
	}
}

// leadsTo returns the redirect of a route, or nil if it has none or an invalid one, which leadsTo reports.
func (d *routeDraft) leadsTo(r *reader) *routetable.Redirect {
	if d.Redirect == nil || d.redirectTo.Text == "" {
		return nil
	}
	target, refused := d.Redirect.Target(d.pattern)
	if refused != nil {
		r.Refuse(d.redirectTo, refused)
		return nil
	}
	return &routetable.Redirect{To: d.redirectTo, Target: target}
}
