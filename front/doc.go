// Package front is the front door: it builds tables from a configuration, forwards
// each request to the upstream of its route, applies limits, and logs the outcome.
//
//	cfg, err := config.Parse("weir.yaml", src, os.LookupEnv)
//	door, err := front.New(cfg, out)
//	err = door.Listen()
//	err = door.Serve(ctx) // until ctx is done, then it drains
//
// One function, serve of [Door], handles a request. All its state is in one pooled
// struct, the exchange. http1.go fills it for HTTP/1, from bytes that a driver reads
// (goroutines.go), and http2exchange.go for HTTP/2.
package front
