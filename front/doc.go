// Package front is the front door: it builds tables from a configuration, forwards
// each request to the upstream of its route, applies limits, and logs the outcome.
//
//	cfg, err := config.Parse("weir.yaml", src, os.LookupEnv)
//	door, err := front.New(cfg, out)
//	err = door.Listen()
//	err = door.Serve(ctx) // until ctx is done, then it drains
//
// One function, serve of [Door], handles a request: it passes the steps of the front door (steps.go), the limits
// (admission.go), and the stages and the action of its route (features.go). All its state is in one pooled struct, the
// exchange. front/internal/wire fills it, over HTTP/1, 2 and 3.
package front
