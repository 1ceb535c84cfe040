package log_test

import (
	"io"
	stdlog "log"
	"net/http"
	"os"

	"github.com/weirhq/weir/log"
)

// The error log of a server becomes events.
func ExampleCapture() {
	logger := log.New(timeless{os.Stdout}, log.Options{Namespace: "front-door"})
	server := &http.Server{ErrorLog: stdlog.New(io.Discard, "", 0)}
	restore := log.Capture(server.ErrorLog, logger, log.LevelWarn, "http server complaint")
	defer restore()

	server.ErrorLog.Print("http: TLS handshake error from 192.0.2.1:5432: EOF")
	// Output:
	// {"namespace":"front-door","event":"http server complaint","severity":2,"data":{"message":"http: TLS handshake error from 192.0.2.1:5432: EOF"}}
}
