// Package http1 parses HTTP/1 messages (RFC 9112): the heads of requests and responses,
// and bodies in chunks with their trailers. It does no input or output. The caller owns
// the buffer, and the results are ranges of bytes in it ([Span]).
//
// A parser is called with the bytes that have arrived. If they are not a complete head, it
// keeps its position, and the caller calls it again with the same and more bytes. The
// result, also the position of an error, does not depend on how the bytes were split.
// Parsing allocates nothing, with three exceptions: errors, an IPv6 address as a host, and
// the first head with more than 32 fields.
//
// # Rules for all messages
//
// The parser accepts a subset of the messages that net/http accepts, with the same
// meaning. Where RFC 9112 allows a receiver to repair a message, it returns an error
// instead, because another parser might repair it differently.
//
//   - Each line ends with CRLF. A bare LF and a bare CR are errors as soon as they arrive.
//   - Control bytes other than the tab are errors everywhere. Bytes from 0x80 are allowed
//     in values, reasons and targets.
//   - A folded line (obs-fold) is an error, and so is whitespace before a colon, an empty
//     name, and a name that is not a token.
//   - The version is HTTP/1.0 or HTTP/1.1.
//   - There is at most one Content-Length, of 1 to 18 digits. Equal ones, and lists, are
//     errors.
//   - There is at most one Transfer-Encoding, "chunked" in any case, and then no
//     Content-Length. In HTTP/1.0 it is an error.
//   - Connection lists at most 64 options. Close follows from it and from the version.
//   - A Trailer field does not announce Content-Length, Transfer-Encoding or Trailer.
//   - The size of a chunk has 1 to 15 hexadecimal digits. Chunks that contain far more
//     extensions than data are errors.
//   - Heads and trailers have at most 64 KiB and 256 fields, or other limits that the
//     caller sets.
//
// # Requests
//
//   - One empty line before the request line is skipped (section 2.2).
//   - Exactly one space separates method, target and version. The method is any token, and
//     the target contains no whitespace.
//   - The target is a path, "*", a URL with the scheme http or https in lower case, or with
//     CONNECT a host and a port. The escapes of its path are complete. Whether "*" fits the
//     method, and whether a path is ambiguous, is for the caller to decide.
//   - There is exactly one Host, also in HTTP/1.0. It consists of the bytes of a host and
//     an optional port; the caller checks the rest of its grammar. It equals the authority
//     of the target if there is one. The default port of the scheme may be missing in
//     either, and the case of letters does not matter.
//   - Content-Length has no leading zero.
//   - Expect is 100-continue, once.
//   - The size of a chunk has no whitespace after it. An extension begins with a token, and
//     has at most 256 bytes.
//   - A trailer is none of the fields that determine the end or the owner of a request:
//     Content-Length, Transfer-Encoding, Host, Trailer, Connection, Upgrade, TE, Expect.
//
// The status of an error is 400, except: 414 for a request line above its own limit, 417
// for another expectation, 431 for a head or trailers above their limits, 501 for another
// coding, 505 for another major version.
//
// # Responses
//
//   - The status has three digits and is at least 100. The reason may be empty, and then
//     the space before it may be missing.
//   - Content-Length may have leading zeros.
//   - The size of a chunk may have whitespace after it. The line has at most 1 KiB with its
//     extensions. Before an extension net/http does not accept that whitespace, but section
//     7.1.1 allows it and some servers send it.
//   - A trailer may be any field.
//   - A 1xx response has no body: a coding or a length above 0 is an error.
//   - Bytes that cannot become "HTTP/1." are an error before the end of the line.
//
// # Differences from the readers that it replaces
//
// The reader of requests in package front is followed by the parser of net/http, and has
// the rules of both, with these exceptions. Newly accepted are the empty line before a
// request line, which some clients send after a body, and an authority that differs from
// the Host only by the default port, since both name the same server. CONNECT to another
// authority than the Host is newly rejected. The limit of 256 fields is new. Errors are
// found as early as possible: 505 does not wait for the end of the head.
//
// The reader of responses in package load looked only at the fields that determine the end.
// Newly rejected are lines without a CR, malformed fields, folded fields, versions above
// HTTP/1.1, equal and listed lengths, lengths together with chunks, codings other than
// chunked, and any Transfer-Encoding in HTTP/1.0.
package http1
