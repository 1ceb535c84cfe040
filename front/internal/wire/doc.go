// Package wire serves the connections of clients over HTTP/1, 2 and 3, with and without TLS.
//
// A [Server] binds addresses, accepts connections and reads the heads of requests, in the event loops
// of package transport or with a goroutine for each connection. It passes each request as an
// [Exchange] to a function of its [Settings]. It knows neither routes nor the configuration: the front door
// gives it limits (Use), the options of handshakes (UseTLS) and addresses (Prepare), or listeners of another
// process (Adopt).
//
// A connection is a clientConn. It has an input while it holds bytes. Over HTTP/1 its exchange has a
// requestBody and a responder; over HTTP/2 and 3, a streamExchange is both.
package wire
