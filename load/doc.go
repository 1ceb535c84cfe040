// Package load sends HTTP requests as fast, or exactly as often, as it is told,
// and says how long the answers took.
//
// A [Plan] goes in and a [Result] comes out:
//
//	r, err := load.Run(ctx, load.Plan{
//		Targets:     []target.Target{{URL: "http://127.0.0.1:20000/hello"}},
//		Connections: 64,
//		Duration:    10 * time.Second,
//	})
//
// There is one request loop, made of interchangeable parts: what to send
// (package [target]), when ([Pace]), for how long (Duration, Requests), and by what
// (Protocol). Without a pace the loop is closed: each connection sends its next
// request when it has its answer, and the server sets the rate. With one it is
// open: requests are due at their times whether answers come or not, and
// latencies count from when a request was due, which is what a user of a server
// that stalls has to wait. Both are in the Result, from due and from sent, and
// none is invented. A request without an answer counts in them, so that no failure makes a quantile
// better.
//
// Nothing is sent that is not accounted for: asked = sent + unsent, and sent =
// answered + failed + unanswered, exactly.
//
// On Linux plain HTTP/1.1 is spoken by a locked thread per core with an epoll of
// its own; everything else, by a goroutine per connection.
package load
