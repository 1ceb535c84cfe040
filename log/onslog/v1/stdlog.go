package log

import (
	"context"
	stdlog "log"
	"strings"
)

// Whoever imports the original has what its dependencies write by the standard
// library's log among the events, without a call; so does whoever imports this.
func init() {
	stdlog.SetOutput(thirdParty{})
	stdlog.SetFlags(stdlog.Flags() &^ (stdlog.Ldate | stdlog.Ltime))
}

// thirdParty writes what it is given as events.
type thirdParty struct{}

func (thirdParty) Write(b []byte) (int, error) {
	Event(context.Background(), "third party logs", Data{"raw": strings.TrimSpace(string(b))})
	return len(b), nil
}
