package proxying

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

var errRequest = errors.New("the request cannot be sent as it is")

// readFraming reads the request's fields once and collects all facts that
// determine how it is sent.
func (x *Exchange) readFraming() {
	f := &x.framing
	upgrade, upgrades, connection := "", 0, false
	for i := range x.Header {
		h := &x.Header[i]
		switch len(h.Name) {
		case len("Te"):
			f.trailers = f.trailers || httpsyntax.EqualFold(h.Name, "Te") && lists(h.Value, "trailers")
		case len("Expect"):
			f.expect = f.expect || httpsyntax.EqualFold(h.Name, "Expect") && httpsyntax.EqualFold(h.Value,
				"100-continue")
		case len("Upgrade"):
			switch {
			case httpsyntax.EqualFold(h.Name, "Upgrade"):
				upgrade = h.Value
				upgrades++
			case httpsyntax.EqualFold(h.Name, "Trailer"):
				f.trailer = h.Value
			}
		case len("Connection"):
			if httpsyntax.EqualFold(h.Name, "Connection") {
				connection = connection || lists(h.Value, "upgrade")
				if f.options += countElements(h.Value); f.options <= maxOptions {
					x.connectionOptions = appendElements(x.connectionOptions, h.Value)
				}
			}
		case len("Content-Length"):
			f.hasLength = f.hasLength || httpsyntax.EqualFold(h.Name, "Content-Length")
		}
	}
	f.expect = f.expect && x.Body != nil && x.Length != 0 && !x.HTTP10
	if connection && upgrades == 1 {
		f.upgrade = x.allowedUpgrade(upgrade)
	}
}

func appendElements(dst []string, list string) []string {
	Elements(list, func(e string) bool {
		dst = append(dst, e)
		return true
	})
	return dst
}

// allowedUpgrade returns the token of an Upgrade field in lower case if it is
// passed on, else "". A request with a body is never upgraded, because parsers
// disagree about the end of its body. h2c is never passed on, because it would
// carry any number of requests past the routes and limits that were applied to
// this one.
func (x *Exchange) allowedUpgrade(token string) string {
	if x.Method != "GET" || x.HTTP10 || x.HTTP2 || x.HTTP3 || x.Length != 0 || httpsyntax.EqualFold(token, "h2c") {
		return ""
	}
	for _, allowed := range x.Upgrade {
		if httpsyntax.EqualFold(token, allowed) {
			return strings.ToLower(token)
		}
	}
	return ""
}

// writeHead writes the request's head to x.head: one Host, one of each
// forwarding field, and no hop-by-hop field. base is put before the target.
func (x *Exchange) writeHead(base string, trust Trust) error {
	host := cmp.Or(x.SendHost, x.Host)
	if !httpsyntax.IsToken(x.Method) || !validTarget(x.Target) || !validHost(x.Host) || !validHost(host) ||
		x.framing.options > maxOptions {
		return errRequest
	}
	b := append(x.head[:0], x.Method...)
	b = append(b, ' ')
	if x.Target != "*" {
		b = append(b, base...)
	}
	b = append(b, x.Target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, "\r\n"...)
	for i := range x.Header {
		h := &x.Header[i]
		if !httpsyntax.IsToken(h.Name) || !httpsyntax.IsPlain(h.Value) {
			return errRequest // even if it is not passed on, because other fields may quote it
		}
		if x.passes(h.Name) && !contains(x.connectionOptions, h.Name) {
			b = appendField(b, h.Name, h.Value)
		}
	}
	for _, fields := range [...][]Field{x.Send, x.SendAdd} {
		for i := range fields {
			h := &fields[i]
			if !httpsyntax.IsToken(h.Name) || !httpsyntax.IsPlain(h.Value) {
				return errRequest // often built from the client's data
			}
			b = appendField(b, h.Name, h.Value)
		}
	}
	if !x.Own {
		b = trust.appendForwarded(b, x.Header, hop{x.Peer, x.Host, x.Scheme})
	}
	b = x.appendFraming(b)
	x.head = append(b, "\r\n"...)
	x.headEnd, x.base = len(x.head), base
	return nil
}

// setBase replaces the base path in the head, because the servers were replaced since it was written. It makes a copy:
// the Hook may have kept the body.
func (x *Exchange) setBase(base string) {
	if base == x.base || x.Target == "*" {
		return
	}
	at := len(x.Method) + len(" ")
	x.head = slices.Concat(x.head[:at], []byte(base), x.head[at+len(x.base):])
	x.headEnd += len(base) - len(x.base)
	x.base = base
}

// passes reports whether a field of the client's header or trailers is passed
// to the upstream unchanged.
func (x *Exchange) passes(name string) bool {
	switch {
	case HopByHop(name), !x.Own && IsForwarding(name), x.withholds(name):
		return false
	case len(name) == len("Host") && httpsyntax.EqualFold(name, "Host"):
		return false
	case len(name) == len("Expect") && httpsyntax.EqualFold(name, "Expect"):
		return false
	case len(name) == len("Content-Length") && sameToCGI(name, "Content-Length"):
		return false
	case len(name) == len("Transfer-Encoding") && sameToCGI(name, "Transfer-Encoding"):
		return false
	}
	return true
}

// withholds reports whether a field of the client is replaced or removed. Like IsForwarding,
// it recognises the spellings that a CGI-like upstream does not distinguish, because an
// upstream may trust the field that replaces the client's.
func (x *Exchange) withholds(name string) bool {
	for i := range x.Send {
		if sameToCGI(x.Send[i].Name, name) {
			return true
		}
	}
	for _, removed := range x.SendRemove {
		if sameToCGI(removed, name) {
			return true
		}
	}
	return false
}

// appendFraming appends the fields that determine the framing of the body and
// the use of this connection.
func (x *Exchange) appendFraming(b []byte) []byte {
	f := &x.framing
	switch {
	case x.Length > 0 || x.Length == 0 && f.hasLength:
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, max(x.Length, 0), 10)
		b = append(b, "\r\n"...)
	case x.Length < 0:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
		if f.trailer != "" {
			b = appendField(b, "Trailer", f.trailer)
		}
	}
	if f.expect {
		b = append(b, "Expect: 100-continue\r\n"...)
	}
	switch {
	case f.upgrade != "" && f.trailers:
		b = append(b, "TE: trailers\r\nConnection: Upgrade, TE\r\n"...)
	case f.upgrade != "":
		b = append(b, "Connection: Upgrade\r\n"...)
	case f.trailers:
		b = append(b, "TE: trailers\r\nConnection: TE\r\n"...)
	}
	if f.upgrade != "" {
		b = appendField(b, "Upgrade", f.upgrade)
	}
	return b
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

// validTarget reports whether t is "*" or a target in origin form that can be
// understood in only one way.
func validTarget(t string) bool {
	return t != "" && (t[0] == '/' || t == "*") && httpsyntax.FindInvisible(t) == len(t)
}

// validHost rejects hosts that would break the line. Whether a host is valid is
// up to the server that received the request.
func validHost(h string) bool { return httpsyntax.FindInvisible(h) == len(h) }
