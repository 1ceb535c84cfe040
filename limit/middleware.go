package limit

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// A Policy decides about a request before its handler runs. If it admits the request,
// it returns nil and a function to call after the response, or nil. Otherwise it
// returns the refusal. It may set header fields of the response in both cases, and it
// may wrap the body. [InFlight.Policy], [Rate.Policy], [MaxBody.Policy] and
// [Pace.Policy] return policies.
type Policy func(w http.ResponseWriter, r *http.Request) (done func(), refused *Refusal)

// A Refusal is the error of a refused request: the limit, the cause and the response.
type Refusal struct {
	// Limit is the name that the limit's Policy was given.
	Limit string
	// Status is the status of the response: 408, 413, 429 or 503.
	Status int
	// RetryAfter is the time after which another attempt can succeed; 0 if none can.
	RetryAfter time.Duration
	// Err is the cause, such as ErrFull.
	Err error
}

// ErrRate and ErrBody are causes of a Refusal. The others are the errors of
// [InFlight.Enter].
var (
	ErrRate = errors.New("limit: more requests than the rate allows")
	ErrBody = errors.New("limit: body too large")
)

func (r *Refusal) Error() string {
	return fmt.Sprintf("limit %q refused the request with %d: %v", r.Limit, r.Status, r.Err)
}

func (r *Refusal) Unwrap() error { return r.Err }

// Middleware returns a middleware that applies p to each request. To apply several
// policies, nest their middlewares. If refused is not nil, it is called for each
// refusal. The response to a refusal has its status, Retry-After if it has such a time,
// and a line of text with the name of the limit.
func Middleware(p Policy, refused func(*http.Request, *Refusal)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			done, refusal := p(w, r)
			if refusal != nil {
				if refused != nil {
					refused(r, refusal)
				}
				refusal.respond(w)
				return
			}
			if done != nil {
				defer done()
			}
			next.ServeHTTP(w, r)
		})
	}
}

// respond writes the complete response to a refused request.
func (r *Refusal) respond(w http.ResponseWriter) {
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(RetrySeconds(r.RetryAfter), 10))
	}
	http.Error(w, fmt.Sprintf("%d %s: limit %q", r.Status, http.StatusText(r.Status), r.Limit), r.Status)
}

// RetrySeconds returns d as the value of a Retry-After field: whole seconds, rounded
// up, at least 1.
func RetrySeconds(d time.Duration) int64 {
	return max(1, ceil(int64(d), int64(time.Second)))
}

// ceil returns a/b rounded up. a is not negative.
func ceil(a, b int64) int64 {
	n := a / b
	if a%b > 0 {
		n++
	}
	return n
}
