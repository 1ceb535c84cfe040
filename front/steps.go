package front

import (
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/proxying"
)

// steps are the steps before a request is forwarded, in the order of their precedence. Each may respond, and reports
// whether it has.
var steps = [...]func(d *Door, x *exchange, t *tables) (responded bool){
	(*Door).refuseInvalid,
	(*Door).respondToChallenge,
	(*Door).redirectToHTTPS,
	(*Door).refuseClient,
	(*Door).refuseSpelling,
	(*Door).respondForServer,
}

// examine finds the route of a request and all that its first event and its steps need. It does not
// respond.
func (d *Door) examine(x *exchange, t *tables) {
	v := &x.verdict
	v.status, v.why = validate(x)
	v.invalid = v.status != 0
	v.plain = t.httpsRedirect != nil && t.httpsRedirect.SetHSTS(x.Exchange, t.trust.Scheme(x.Peer, x.Header, x.Scheme))
	if rules := d.rules.Load(); rules != nil && !v.invalid {
		v.status, v.why = checkClient(rules, x)
	}
	if t.subjectField != "" {
		x.passSubject(t.subjectField)
	}
	if x.events = t.defaultEvents; v.status == 0 {
		findRoute(x, t)
	}
}

// refuseInvalid refuses a request that is ambiguous.
func (d *Door) refuseInvalid(x *exchange, _ *tables) (responded bool) {
	if x.verdict.invalid {
		x.Refuse(x.verdict.status, x.verdict.why)
	}
	return x.verdict.invalid
}

// respondToChallenge responds to an ACME server that verifies the control of a host.
func (d *Door) respondToChallenge(x *exchange, _ *tables) (responded bool) {
	m := d.certs.manager.Load()
	if m == nil {
		return false
	}
	response := challengeResponse(m, x.Exchange)
	if response != "" {
		x.RespondWith(200, challengeFields, response)
	}
	return response != ""
}

// redirectToHTTPS redirects a request without TLS, also to a host that has rules for client
// certificates.
func (d *Door) redirectToHTTPS(x *exchange, t *tables) (responded bool) {
	if !x.verdict.plain || x.Target == "*" || x.exceptsPlain() {
		return false
	}
	x.route = x.found
	x.setCORS()
	if !t.editResponse(x) {
		t.httpsRedirect.Respond(x.Exchange)
	}
	return true
}

// refuseClient refuses a request whose connection has not applied the rule for client
// certificates of its host.
func (d *Door) refuseClient(x *exchange, _ *tables) (responded bool) {
	if x.verdict.status != 0 {
		x.Refuse(x.verdict.status, x.verdict.why)
	}
	return x.verdict.status != 0
}

// refuseSpelling refuses another spelling of a path that a route restricts.
func (d *Door) refuseSpelling(x *exchange, t *tables) (responded bool) {
	status, why := t.checkSpelling(x)
	if status != 0 {
		x.Refuse(status, why)
	}
	return status != 0
}

// methodsOfAll are the methods that the front door accepts, apart from routes.
const methodsOfAll = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// respondForServer responds to requests that are not for a route: TRACE, and OPTIONS for the server as a
// whole.
func (d *Door) respondForServer(x *exchange, _ *tables) (responded bool) {
	switch {
	case x.Method == "TRACE":
		x.Refuse(405, "TRACE would reveal the fields that proxies add", proxying.Field{Name: "Allow", Value: methodsOfAll})
	case x.Target == "*":
		x.Respond(204, "", proxying.Field{Name: "Allow", Value: methodsOfAll})
	default:
		return false
	}
	return true
}

// checkClient checks that the handshake of the connection has applied the rule for the
// request's host. It returns the status and the reason of a refusal, or 0.
func checkClient(p *handshake.Policy, x *exchange) (status int, why string) {
	if p.Misdirected(x.wire.TLS, x.http.Host) {
		return 421, "the connection was not made for this host, which has other rules for client certificates"
	}
	return 0, ""
}

// passSubject passes the subject of the client's certificate to the upstream in the named
// field, or removes the field.
func (x *exchange) passSubject(name string) {
	if x.wire.TLS == nil || x.wire.TLS.Subject == "" {
		x.SendRemove = stage.JoinNames(x.SendRemove, []string{name})
		return
	}
	x.Send = append(x.Send, proxying.Field{Name: name, Value: x.wire.TLS.Subject})
}
