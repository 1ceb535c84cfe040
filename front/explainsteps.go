package front

import (
	"fmt"
	"net/http"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/proxy"
)

// An explainer is a stage or an action that describes itself. Each line is a sentence
// without a subject, such as "forwards to the upstream site".
type explainer interface {
	// explain also reports whether the request ends there.
	explain(x *exchange) (steps []string, ends bool)
}

// explain returns what the stages and the action do.
func (r *route) explain(x *exchange) (all []string) {
	parts := make([]any, 0, len(r.stages)+1)
	for _, s := range r.stages {
		parts = append(parts, s)
	}
	for _, part := range append(parts, r.action) {
		if e, ok := part.(explainer); ok {
			steps, ends := e.explain(x)
			if all = append(all, steps...); ends {
				break
			}
		}
	}
	if e, ok := r.responses.(explainer); ok {
		steps, _ := e.explain(x)
		all = append(all, steps...)
	}
	return all
}

func (f *forwardTo) explain(*exchange) (steps []string, ends bool) {
	return []string{"forwards to the " + f.to.describe()}, true
}

func (s *split) explain(x *exchange) (steps []string, ends bool) {
	if chosen := s.byCondition(x); chosen != nil {
		return []string{"forwards, because of " + chosen.when.Names() + ", to the " + chosen.to.describe()}, true
	}
	if s.cookie != "" {
		if chosen := s.byCookie(x.Header); chosen != nil {
			return []string{"forwards, because of the cookie " + s.cookie + ", to the " + chosen.to.describe()}, true
		}
	}
	last := uint64(0)
	for _, share := range s.shares {
		if share.upTo == last {
			continue // without a weight
		}
		percent := float64(share.upTo-last) / float64(s.total) * 100
		last = share.upTo
		steps = append(steps, fmt.Sprintf("forwards %.4g %% of the requests to the %s", percent, share.to.describe()))
	}
	if s.cookie != "" {
		steps = append(steps, "sets the cookie "+s.cookie+", which keeps the client at its upstream")
	}
	return steps, true
}

func (r redirectTo) explain(x *exchange) (steps []string, ends bool) {
	v := x.values()
	location, err := r.target.AppendLocation(nil, &v)
	if err != nil {
		return []string{"responds with 414: the address of the redirect would be too long"}, true
	}
	return []string{fmt.Sprintf("redirects with %d to %s", r.target.Status, location)}, true
}

func (f *fixedResponse) explain(*exchange) (steps []string, ends bool) {
	return []string{fmt.Sprintf("responds with %d and a body of %d bytes", f.status, len(f.text))}, true
}

func (s *serveFiles) explain(x *exchange) (steps []string, ends bool) {
	return []string{s.decide(x)}, true
}

// decide opens the file as respond does.
func (s *serveFiles) decide(x *exchange) string {
	switch x.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		return "responds with 204 and Allow: " + methodsOfFiles
	default:
		return "responds with 405: " + onlyReads
	}
	name, refused := s.name(x)
	if refused != "" {
		return "responds with 404: " + refused
	}
	conditions := fileConditions(x.Header)
	found, err := s.site.Find(name, conditions.AcceptEncoding, true)
	switch {
	case err != nil:
		status, why := statusOf(err)
		return fmt.Sprintf("responds with %d: %s", status, why)
	case found.AddSlash:
		return "redirects with 301 to " + withSlash(x.path, x.query)
	}
	defer found.Close()
	file := fmt.Sprintf("%q", found.Path)
	if found.Coding != "" {
		file += " with " + found.Coding
	}
	file += " in the folder " + string(s.site.Folder)
	if r := conditions.Respond(&found, found.Version(), x.Method == http.MethodHead); r.Status != http.StatusOK {
		return fmt.Sprintf("responds with %d for %s", r.Status, file)
	}
	return "serves " + file
}

func (r *accessRule) explain(x *exchange) (steps []string, ends bool) {
	if r.admits(x.client) {
		return []string{fmt.Sprintf("admits the client %s", x.client)}, false
	}
	return []string{fmt.Sprintf("refuses the client %s with 403", x.client)}, true
}

func (o *crossOrigin) explain(x *exchange) (steps []string, ends bool) {
	if x.preflight {
		return []string{"responds to the preflight of CORS"}, true
	}
	return nil, false
}

func (e *requestEdits) explain(x *exchange) (steps []string, ends bool) {
	v := x.values()
	if e.rewrite != nil {
		target, status, why := e.rewrite.Append(nil, &v, x.Target[len(x.path):])
		if status != 0 {
			return []string{fmt.Sprintf("responds with %d: %s", status, why)}, true
		}
		steps = append(steps, "changes the target to "+string(target))
	}
	if e.host != nil {
		host, _ := e.host.Append(nil, &v)
		steps = append(steps, "changes the host to "+string(host))
	}
	return append(steps, e.fields.explain(x, "request")...), false
}

func (e *responseEdits) explain(x *exchange) (steps []string, ends bool) {
	return (*fieldEdits)(e).explain(x, "response"), false
}

// explain returns the edits of a message.
func (e *fieldEdits) explain(x *exchange, message string) (steps []string) {
	v := x.values()
	set, add, err := e.appendTo(x, &v, nil, nil)
	if err != nil {
		return []string{"responds with 414: a header field of the " + message + " would be too long"}
	}
	for _, name := range e.remove {
		steps = append(steps, "removes "+name+" from the "+message)
	}
	for _, f := range set {
		steps = append(steps, "sets "+f.Name+" of the "+message+" to "+shown(f))
	}
	for _, f := range add {
		steps = append(steps, "adds "+f.Name+": "+shown(f)+" to the "+message)
	}
	return steps
}

// shown returns the value of a field, unless it is secret.
func shown(f proxy.Field) string {
	if config.IsSecretHeader(f.Name) {
		return "[redacted]"
	}
	return f.Value
}

func (a *forwardAuth) explain(*exchange) (steps []string, ends bool) {
	return []string{"asks the " + a.to.describe() + " whether the request is admitted"}, false
}

func (a *basicAuth) explain(*exchange) (steps []string, ends bool) {
	return []string{"requires a user and a password, otherwise responds with 401"}, false
}

func (m *mirror) explain(*exchange) (steps []string, ends bool) {
	return []string{fmt.Sprintf("sends copies of %.4g %% of the requests to the %s",
		float64(m.share)/config.MirrorAll*100,
		m.to.describe())}, false
}
