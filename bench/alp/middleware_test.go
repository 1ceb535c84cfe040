package alp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

// throughMiddleware starts a server in this process, calls visit, and returns the log file.
func throughMiddleware(t *testing.T, visit func(site string)) (logFile string) {
	logFile = filepath.Join(t.TempDir(), "weir.log")
	out, err := os.Create(logFile)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	logger := log.New(out, log.Options{Namespace: "site", Format: log.FormatLTSV,
		OnError: func(err error) { t.Error(err) }})
	site := httptest.NewServer(httplog.Middleware(logger, httplog.Options{})(http.HandlerFunc(respond)))
	defer site.Close() // waits for the handlers and therefore for their events
	visit(site.URL)
	return logFile
}
