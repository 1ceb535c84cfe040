// Package load sends HTTP requests, as many as possible or at an exact rate, and
// measures the latencies of the responses.
//
// [Run] executes a [Plan] and returns a [Result]:
//
//	r, err := load.Run(ctx, load.Plan{
//		Targets:     []target.Target{{URL: "http://127.0.0.1:20000/hello"}},
//		Connections: 64,
//		Duration:    10 * time.Second,
//	})
//
// One request loop combines interchangeable parts: which requests to send (package
// [github.com/weirhq/weir/load/target]), when (package
// [github.com/weirhq/weir/load/pace]), for how long (Duration, Requests) and by which
// protocol ([Protocol]). Without a Pace the loop is closed: each
// connection sends its next request after its response, and the server determines the
// rate. With a Pace the loop is open: requests are due at their times whether responses
// arrive or not. Then latencies also count from the due time, because a user of a
// server that stalls waits from then on. A Result has both latencies, from due and from
// sent. All are measured, none is corrected. Requests without a response count too, so
// that a failure never improves a quantile.
//
// Every request is accounted for: asked = sent + unsent, and sent = answered + failed +
// unanswered, exactly.
//
// On Linux plain HTTP/1.1 is sent by one locked thread per core, each with its own
// epoll. All other protocols are sent by one goroutine per request under way.
package load
