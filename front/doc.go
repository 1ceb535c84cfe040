// Package front is the front door: it builds tables from a configuration, forwards
// each request to the upstream of its route, applies limits, and logs the outcome.
//
//	cfg, err := config.Parse("weir.yaml", src, os.LookupEnv)
//	door, err := front.New(cfg, out)
//	err = door.Listen()
//	err = door.Serve(ctx) // until ctx is done, then it drains
//
// One function, serve of [Door], handles a request. All its state is in one pooled
// struct, the exchange. Neither depends on net/http: nethttp.go adapts them to
// net/http, over the connections in clientconn.go.
package front
