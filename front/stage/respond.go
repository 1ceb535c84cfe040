package stage

// MaxDiscard is the longest body that is read when its request is refused, in bytes, so that
// the connection can be used again.
const MaxDiscard = 16 << 10

// Refuse responds instead of the action, with the page of the status. The reason is for the log.
func (x *Exchange) Refuse(status int, why string, fields ...Field) {
	x.Refusal = why
	text := ""
	if status == 400 {
		text = "400 Bad Request: " + why
	}
	x.LeaveBody()
	if x.RespondError(status, text, fields) != nil {
		x.Cut = true
	}
}

// Respond responds with a status and a text. An empty text means the standard one. If it cannot be
// sent, the response is cut.
func (x *Exchange) Respond(status int, text string, fields ...Field) {
	x.LeaveBody()
	if x.Exchange.Respond(status, text, fields...) != nil {
		x.Cut = true
	}
}

// RespondWith responds with a status, fields and the bytes of a body. If they cannot be sent, the
// response is cut.
func (x *Exchange) RespondWith(status int, fields []Field, body string) {
	x.LeaveBody()
	if x.Exchange.RespondWith(status, fields, body) != nil {
		x.Cut = true
	}
}

// RespondError responds to an error with its page, or with a text if it has none. A call of gRPC gets no body:
// grpc-core may take the end of a body without trailers for a failure of its own, and derive UNKNOWN instead of the
// status.
func (x *Exchange) RespondError(status int, text string, fields []Field) error {
	if x.HTTP2 && IsGRPC(x.Header) {
		return x.Exchange.RespondWith(status, fields, "")
	}
	if x.Pages != nil {
		if found, err := x.Pages.Respond(x, status, fields); found {
			return err
		}
	}
	return x.Exchange.Respond(status, text, fields...)
}

// LeaveBody prepares a response that does not read the body of the request.
func (x *Exchange) LeaveBody() {
	if x.Length < 0 || x.Length > MaxDiscard {
		x.Client.Duplex() // respond before the body has been read
	}
}
