package log

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// Middleware returns a handler that logs an event when a request is received,
// and one, with the status code, the length of the answer and the duration,
// when f has returned, be it by a panic. The trace id is that of the request's
// context. What f is given to answer to can be flushed and hijacked if that of
// the server can, and unwrapped by an [http.ResponseController].
func Middleware(f http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req == nil {
			Event(context.Background(), "nil request in middleware handler", FATAL)
			return
		}
		rc := &wire.Response{ResponseWriter: w}
		start := time.Now().UTC()
		Event(req.Context(), "http request received", HTTP(req, 0, 0, &start, nil))
		defer func() {
			end := time.Now().UTC()
			Event(req.Context(), "http request completed", HTTP(req, rc.StatusCode, rc.BytesWritten, &start, &end))
		}()
		f.ServeHTTP(rc, req)
	})
}
