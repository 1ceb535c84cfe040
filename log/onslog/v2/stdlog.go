package log

import (
	"context"
	stdlog "log"
	"strings"
)

// Importing log.go redirects the output of the standard library's log package,
// so that messages of dependencies become events. Importing this package does
// the same.
func init() {
	stdlog.SetOutput(thirdParty{})
	stdlog.SetFlags(stdlog.Flags() &^ (stdlog.Ldate | stdlog.Ltime))
}

// thirdParty turns each message of the standard library's log into an event.
type thirdParty struct{}

func (thirdParty) Write(b []byte) (int, error) {
	Event(context.Background(), "third party logs", INFO, Data{"raw": strings.TrimSpace(string(b))})
	return len(b), nil
}
