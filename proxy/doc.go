// Package proxy carries one HTTP request to one upstream and the answer back.
//
// [Proxy] is an [http.Handler] and can be used as one:
//
//	up, err := proxy.NewUpstream("babbage", "http://127.0.0.1:8080")
//	if err != nil {
//		return err
//	}
//	http.ListenAndServe(":20000", &proxy.Proxy{Upstream: up})
//
// Under that face works an [Exchange]: one request with its answer, made of
// strings, a reader and a [Client] to answer to, and free of net/http's types.
// A server that has its own way to read requests fills an Exchange and calls
// [Proxy.Serve]; the face for net/http, [HTTP], does the same.
//
// # What it promises
//
// An answer reaches the client that it was meant for, or nobody. Package proxy
// keeps its own upstream connections because [http.Transport] cannot promise
// that: it parses answers strictly, looks for a FIN and for surplus bytes
// before a connection is used again, lets every connection rest for a moment
// first, and closes at the slightest doubt.
//
// A request is known to be sound before an upstream is dialled, as far as that
// can be known: a small body is read whole, of a longer one the first block.
// What a client does wrong is the client's fault (400) and never counts
// against an upstream.
//
// An answer that has begun and cannot be finished is cut, so that the client
// sees a broken answer and never a short one that looks whole.
//
// A request whose method is not safe is sent at most once.
//
// Bodies are streamed both ways through buffers of a fixed size. Every limit
// is a constant of this package or a field of [Proxy].
package proxy
