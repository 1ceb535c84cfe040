package log

import (
	"context"
	"net/http"
	"time"
)

// Middleware returns a handler that logs one event when a request is received,
// and another when f returns or panics. The second has the status code, the
// length of the response body and the duration. The trace id comes from the
// request's context or, with [Tracing], from its headers.
//
// The ResponseWriter that f gets supports flushing and hijacking if the server's
// does, and an [http.ResponseController] can unwrap it.
func Middleware(f http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req == nil {
			Event(context.Background(), "nil request in middleware handler", INFO, Data{})
			return
		}
		rc := &response{ResponseWriter: w}
		start := time.Now().UTC()
		ctx := extract(req)
		Event(ctx, "http request received", INFO, HTTP(req, 0, 0, &start, nil))
		defer func() {
			end := time.Now().UTC()
			Event(ctx, "http request completed", INFO, HTTP(req, rc.StatusCode, rc.BytesWritten, &start, &end))
		}()
		f.ServeHTTP(rc, req)
	})
}
