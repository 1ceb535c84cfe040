// Package transport provides the connections of the HTTP/1 engine, on both sides of the
// proxy, and the two drivers that run its exchanges.
//
// An exchange is straight-line code that reads, writes and dials through a [Conn] and a
// [Driver], and waits in these calls. Its code is the same with both drivers:
//
//   - [Goroutines]: the calls wait as in package net. It works on every system.
//   - [Loop], on Linux: one locked thread with an epoll of its own runs many exchanges,
//     each in a coroutine. A call that has to wait switches to the loop, which continues
//     the coroutine when the socket is ready. A switch costs a small part of a system
//     call, and an idle connection has no coroutine.
//
// A [TLSConn] adds TLS to a connection of either driver.
package transport
