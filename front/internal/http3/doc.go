// Package http3 serves HTTP/3 on UDP sockets, with quic-go. It adds the limits of connections,
// the timeouts of idle ones and of handshakes, the end of a server that loses no request, and
// the hand-over of a socket to the next process.
//
// It knows neither routes nor exchanges: requests go to an http.Handler.
package http3
