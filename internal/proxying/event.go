package proxying

// An Event is a step of an exchange, reported to Hook.
type Event uint8

const (
	// Sending: a server was chosen, x.Server, and will be connected to next. It
	// is reported at most once, even if a second server is tried.
	Sending Event = iota
	// Trying: the next try begins at x.Server, which was just chosen. Nothing was sent to it yet, so that the Hook may
	// call [Exchange.ReplaceSent].
	Trying
	// PassedOver: connecting to x.Server failed with x.Err, and another server
	// will be tried.
	PassedOver
	// Waiting: connecting to every server failed, the last one with x.Err, and
	// the exchange tries again for Options.ConnectRetry. It is reported at
	// most once for each attempt to send the request.
	Waiting
	// Retrying: the request will be sent again because of x.Retried. x.Err is the failure of
	// x.Server, or nil if it responded.
	Retrying
	// Done: the exchange is over, and its result is in x.
	Done
)
