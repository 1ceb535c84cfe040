// Package proxy forwards HTTP requests to the servers of an upstream and passes
// the responses to the clients.
//
// [Proxy] is an [http.Handler]:
//
//	up, err := proxy.NewUpstream("babbage", proxy.Options{
//		Servers: []proxy.Server{{URL: "http://127.0.0.1:8080"}},
//	})
//	if err != nil {
//		return err
//	}
//	http.ListenAndServe(":20000", &proxy.Proxy{Upstream: up})
//
// # Guarantees
//
// A response reaches the client that sent the request, or no client at all.
// Package proxy has its own upstream connections because [http.Transport]
// cannot guarantee this. It parses responses strictly, checks a connection for
// a FIN and for surplus bytes before it uses the connection again, leaves each
// connection unused for a few milliseconds first, and closes it in case of
// doubt.
//
// A request is checked as far as possible before an upstream is dialled: a
// short body is read completely, and the first block of a longer body. A
// mistake of the client gets status 400 and never counts against an upstream.
//
// If a response has begun and cannot be completed, it is cut off. The client
// sees a broken response, never a short one that looks complete.
//
// A request with an unsafe method is sent at most once, unless Options.Retry lists the method.
//
// Bodies are streamed in both directions through buffers of a fixed size. Every
// limit is fixed or one of the [Options].
package proxy
