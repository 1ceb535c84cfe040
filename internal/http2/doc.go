// Package http2 implements connections of HTTP/2 (RFC 9113) over package transport. It
// knows neither the front door nor the proxy.
//
// A [Conn] is a connection and its streams. It does not read by itself: the bytes that have
// arrived are fed to a state machine, which never waits. On an event loop, an idle
// connection calls it without a coroutine ([Conn.Attend]). With the driver of goroutines,
// one goroutine reads ([Conn.Serve]). The state machine opens streams and reports them to
// the [Owner].
//
// The exchange of a [Stream] is straight-line code in a task of the connection's driver. It
// reads the body with [Stream.ReadInto] and writes with [Stream.SendHead] and [Stream.Write],
// which wait for bytes, for the windows of the peer and for space in the output. These
// waits have the deadlines of the stream.
//
// All streams append their frames to one output buffer, which has a limited size. A loop
// writes it once at the end of a turn, so that the responses of many streams share a system
// call. Streams that wait for space or for the window of the connection continue in turn.
//
// Frames other than DATA, HEADERS and CONTINUATION are parsed and written by the Framer of
// golang.org/x/net/http2, and header blocks by its package hpack. Header blocks are encoded
// without the dynamic table: a connection then needs no memory for one, and the fields of
// different clients never share a compression state.
//
// Every input is bounded. An [Error] describes why a connection or a stream has failed: its
// code is sent to the peer, and its Reason is a label for metrics.
package http2
