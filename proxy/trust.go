package proxy

import "net/netip"

// Trust lists the networks of the proxies that are trusted to report the origin
// of a request. The following rule applies to every request.
//
// If the peer (the remote end of the TCP connection) is not in the list, the
// fields about the request's way are discarded: every Forwarded, X-Real-Ip and
// X-Forwarded-* field, in any spelling that a CGI-like upstream would treat as
// one of these (x_forwarded_for). The client is the peer.
//
// If the peer is in the list, X-Forwarded-For and Forwarded are extended, and
// X-Forwarded-Host and X-Forwarded-Proto are kept if they hold one plain value.
// The client is the last address of X-Forwarded-For that is not in the list. If
// that field is missing or contains something else than an address, the client
// is the nearest address that could be read. Other X-Forwarded-* fields and
// X-Real-Ip are discarded in this case too.
//
// In both cases the upstream gets exactly one X-Forwarded-For,
// X-Forwarded-Host, X-Forwarded-Proto and Forwarded. A nil Trust trusts no
// peer.
type Trust []netip.Prefix
