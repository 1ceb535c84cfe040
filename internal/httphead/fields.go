package httphead

import "github.com/weirhq/weir/internal/httpsyntax"

// A Fault is why a request is rejected. The zero value means that the request is valid.
type Fault struct {
	Status int    // of the response
	Reason string // such as "more than one Content-Length"
}

// Malformed returns the fault of a malformed request.
func Malformed(reason string) Fault { return Fault{400, reason} }

// Length parses a Content-Length. again reports that the head has had one. reason is why the field is rejected, or
// "". Some parsers read a leading zero as octal.
func Length[S ~string | ~[]byte](value S, again bool) (n int64, reason string) {
	n, ok := Decimal(value)
	switch {
	case again:
		return 0, "more than one Content-Length"
	case !ok || len(value) > 1 && value[0] == '0':
		return 0, "Content-Length is not a number"
	}
	return n, ""
}

// Decimal parses up to 18 digits.
func Decimal[S ~string | ~[]byte](s S) (n int64, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = 10*n + int64(s[i]-'0')
	}
	return n, len(s) > 0 && len(s) <= 18
}

// Expect accepts one expectation of 100-continue. again reports that the head has had one. Another one is rejected
// with 417, as RFC 9110 section 10.1.1 says, unless some parser could find a 100-continue in it.
func Expect[S ~string | ~[]byte](value S, again bool) Fault {
	const known, reason = "100-continue", "Expect is not 100-continue"
	switch {
	case again:
	case httpsyntax.EqualFold(value, known):
		return Fault{}
	case !containsFold(value, known):
		return Fault{417, reason}
	}
	return Malformed(reason)
}

func containsFold[S ~string | ~[]byte](b S, s string) bool {
	for i := 0; i+len(s) <= len(b); i++ {
		if httpsyntax.EqualFold(b[i:i+len(s)], s) {
			return true
		}
	}
	return false
}

// BadTrailer is the reason of a trailer that is not allowed.
const BadTrailer = "a field is not allowed in a trailer"

// OnlyInHead reports whether a field determines the end or the owner of a request. A parser that merges trailers into
// the head would use it.
func OnlyInHead[S ~string | ~[]byte](name S) bool {
	for _, reserved := range [...]string{
		"Content-Length", "Transfer-Encoding", "Host", "Trailer", "Connection", "Upgrade", "Te", "Expect",
	} {
		if httpsyntax.EqualFold(name, reserved) {
			return true
		}
	}
	return false
}

// MayAnnounce reports whether the value of a Trailer field has no name that no receiver may merge into a head.
func MayAnnounce[S ~string | ~[]byte](value S) bool {
	start := 0
	for i := 0; i <= len(value); i++ {
		if i < len(value) && value[i] != ',' {
			continue
		}
		name := httpsyntax.TrimSpace(value[start:i])
		for _, reserved := range [...]string{"Content-Length", "Transfer-Encoding", "Trailer"} {
			if httpsyntax.EqualFold(name, reserved) {
				return false
			}
		}
		start = i + 1
	}
	return true
}
