package front

import (
	"slices"

	"github.com/weirhq/weir/proxy"
)

// maxDiscard is the longest body that is read when its request is refused, so that
// the connection can be used again.
const maxDiscard = 16 << 10

// refuse responds instead of an upstream. The reason is for the log.
func (x *exchange) refuse(status int, why string, fields ...proxy.Field) {
	x.refusal = why
	text := ""
	if status == 400 {
		text = "400 Bad Request: " + why
	}
	x.leaveBody()
	if x.respondError(status, text, fields) != nil {
		x.Cut = true
	}
}

// respond responds with a status and a text. An empty text means the standard one.
func (x *exchange) respond(status int, text string, fields ...proxy.Field) {
	x.leaveBody()
	if x.Respond(status, text, fields...) != nil {
		x.Cut = true
	}
}

// respondWith responds with a status, fields and the bytes of a body.
func (x *exchange) respondWith(status int, fields []proxy.Field, body string) {
	x.leaveBody()
	if x.RespondWith(status, fields, body) != nil {
		x.Cut = true
	}
}

// joinNames joins lists of names for an exchange, without changing one. It allocates only
// if both have names.
func joinNames(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return slices.Concat(a, b)
}

// leaveBody prepares a response that does not read the body of the request.
func (x *exchange) leaveBody() {
	if x.Length < 0 || x.Length > maxDiscard {
		x.Client.Duplex() // respond before the body has been read
	}
}
