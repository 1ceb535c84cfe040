package limit

import "net/http"

// MaxBody is the number of bytes that the body of a request may have. Zero sets
// no limit.
type MaxBody int64

// Policy returns a policy that refuses a request with 413 if its Content-Length
// is too large. If the length of a body is unknown, a read beyond the limit
// returns an *http.MaxBytesError, and the connection is closed afterwards.
func (n MaxBody) Policy(name string) Policy {
	return func(w http.ResponseWriter, r *http.Request) (func(), *Refusal) {
		if n <= 0 {
			return nil, nil
		}
		if r.ContentLength > int64(n) {
			return nil, &Refusal{Limit: name, Status: http.StatusRequestEntityTooLarge, Err: ErrBody}
		}
		r.Body = http.MaxBytesReader(w, r.Body, int64(n))
		return nil, nil
	}
}
