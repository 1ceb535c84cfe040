package limit

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// Response fields of a rate, as in draft-ietf-httpapi-ratelimit-headers-11.
const (
	headerPolicy = "RateLimit-Policy"
	headerState  = "RateLimit"
)

// Policy returns a policy that refuses requests with 429. All responses get the
// fields RateLimit-Policy and RateLimit, unless the Rate has no limit.
func (r *Rate) Policy(name string) Policy {
	policy := string(r.AppendPolicy(nil, name))
	return func(w http.ResponseWriter, req *http.Request) (func(), *Refusal) {
		if r.every == 0 {
			return nil, nil
		}
		d := r.Allow(time.Now(), r.keyOf(req))
		w.Header().Add(headerPolicy, policy)
		w.Header().Add(headerState, string(r.AppendState(nil, name, d)))
		if d.OK {
			return nil, nil
		}
		return nil, &Refusal{Limit: name, Status: http.StatusTooManyRequests, RetryAfter: d.RetryAfter, Err: ErrRate}
	}
}

func (r *Rate) keyOf(req *http.Request) Key {
	if r.key != nil {
		return r.key(req)
	}
	peer, _ := netip.ParseAddrPort(req.RemoteAddr) // requests without an address share a key
	return KeyOf(peer.Addr())
}

// AppendPolicy appends the value of a RateLimit-Policy field for a rate with the given
// name:
//
//	"name";q=20;w=2
//
// for ten requests per second with a burst of 20. The field cannot express a window of
// less than a second; the quota then is the number of tokens that return within a
// second.
func (r *Rate) AppendPolicy(b []byte, name string) []byte {
	window := RetrySeconds(time.Duration(r.fill))
	quota := int64(math.MaxInt64) // without a limit
	if r.every > 0 {
		quota = window * int64(time.Second) / r.every
	}
	b = appendName(b, name)
	b = appendParameter(b, ";q=", quota)
	return appendParameter(b, ";w=", window)
}

// AppendState appends the value of a RateLimit field: the tokens that are left after d.
//
//	"name";r=19;t=2
//
// t is the time in which as many tokens return. A client that spreads its requests over
// t stays within the rate. If no token is left, t equals Retry-After.
func (r *Rate) AppendState(b []byte, name string, d Decision) []byte {
	window := RetrySeconds(time.Duration(int64(d.Remaining) * r.every))
	if d.Remaining == 0 {
		window = RetrySeconds(max(d.RetryAfter, d.Reset-time.Duration(r.fill-r.every)))
	}
	b = appendName(b, name)
	b = appendParameter(b, ";r=", int64(d.Remaining))
	return appendParameter(b, ";t=", window)
}

// appendParameter appends an integer of a structured field. It has at most 15 digits
// (RFC 9651, section 3.3.1).
func appendParameter(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), min(n, 999_999_999_999_999), 10)
}

// appendName appends a string of a structured field (RFC 9651, section 3.3.3).
// Characters that such a string cannot contain become question marks.
func appendName(b []byte, name string) []byte {
	b = append(b, '"')
	for _, c := range name {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ' || c > '~':
			b = append(b, '?')
		default:
			b = append(b, byte(c))
		}
	}
	return append(b, '"')
}
