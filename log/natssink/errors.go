package natssink

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// messageTooLarge is the code of the error for a message that is larger than its stream
// permits.
const messageTooLarge jetstream.ErrorCode = 10054

// isTooLarge reports whether a server or a stream will never store a message.
func isTooLarge(err error) bool {
	var of *jetstream.APIError
	return errors.Is(err, nats.ErrMaxPayload) || errors.As(err, &of) && of.ErrorCode == messageTooLarge
}

// noStreamError returns the error for a subject that no stream stores, with the command that
// creates one.
func noStreamError(subject string) error {
	return fmt.Errorf("no stream of JetStream stores the subject %s: "+
		"create one, as in nats stream add LOGS --subjects '%s' --defaults", subject, subject)
}
