// Package proxying sends one HTTP request to one upstream and passes the response to the client. The
// front door uses it, and package proxy makes it a library for net/http; its documentation has the
// guarantees.
//
// An [Exchange] is one request with its response. It consists of strings, a reader and a [Client]
// that receives the response, and does not use net/http's types. A server with its own request parser
// fills an Exchange and calls [Proxy.Serve]; [Proxy.Handle] does this for net/http. An Exchange runs in a
// goroutine, or on an event loop of package internal/transport.
package proxying
