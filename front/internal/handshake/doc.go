// Package handshake does the TLS handshakes with clients: with few at a time, with client
// certificates by host, and with session tickets whose keys rotate.
//
// A [Server] is shared by all TLS listeners and outlives reloads. It knows neither listeners
// nor requests.
package handshake
