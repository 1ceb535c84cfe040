// Package front is the front door as a whole: it makes tables of a
// configuration, and lets every request through them to the upstream that its
// route names, writing what happened to the log.
//
//	cfg, err := config.Parse("weir.yaml", src, os.LookupEnv)
//	door, err := front.New(cfg, out)
//	err = door.Listen()
//	err = door.Serve(ctx) // until ctx is done, then it drains
//
// A request's way is one function, [Door]'s serve, over one pooled struct, the
// exchange. Neither knows net/http, which is one face of them: nethttp.go, over
// the connections of clientconn.go.
package front
