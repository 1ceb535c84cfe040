// Package httphead has the rules for the heads and trailers of requests. The parser of HTTP/1 applies the rules for
// single fields. HTTP/2 and HTTP/3 have the same heads, which [Request.Read] checks.
//
// A request that breaks a rule could be read differently by two parsers, or is malformed (RFC 9110, RFC 9112 section
// 6.3, RFC 9113 section 8.1.1, RFC 9114 section 4.1.2).
package httphead
