package front

import (
	"io"
	stdlog "log"

	"github.com/weirhq/weir/log"
)

// errorLog returns a logger for net/http's own complaints that turns each into
// an event.
func (d *Door) errorLog() *stdlog.Logger {
	complaints := stdlog.New(io.Discard, "", 0)
	log.Capture(complaints, d.log, log.LevelWarn, "http server complaint")
	return complaints
}
