package limit

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// A Policy decides about requests, before their handler runs. For one that is
// admitted it returns a function to call when it was answered, or nil; for
// another it returns the refusal. It may set header fields of the answer, whichever
// that will be, and it may wrap the body. [InFlight.Policy], [Rate.Policy],
// [MaxBody.Policy] and [Pace.Policy] return policies.
type Policy func(w http.ResponseWriter, r *http.Request) (done func(), refused *Refusal)

// A Refusal says which limit refused a request, why, and how it is answered.
type Refusal struct {
	// Limit is the name of the limit.
	Limit string
	// Status is the status of the response: 408, 413, 429 or 503.
	Status int
	// RetryAfter is after what time another attempt makes sense; 0: none does.
	RetryAfter time.Duration
	// Err is the cause, such as ErrFull.
	Err error
}

// ErrRate and ErrBody are causes of a Refusal.
var (
	ErrRate = errors.New("limit: more requests than the rate allows")
	ErrBody = errors.New("limit: body too large")
)

func (r *Refusal) Error() string {
	return fmt.Sprintf("limit %q refused the request with %d: %v", r.Limit, r.Status, r.Err)
}

func (r *Refusal) Unwrap() error { return r.Err }

// Middleware returns a middleware that asks p about each request. Several
// policies are several middlewares around each other. Each refusal is told to
// refused, if that is not nil, and answered with its status, with Retry-After if
// there is a time for it, and with the name of the limit in a line of text.
func Middleware(p Policy, refused func(*http.Request, *Refusal)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			done, refusal := p(w, r)
			if refusal != nil {
				if refused != nil {
					refused(r, refusal)
				}
				refusal.answer(w)
				return
			}
			if done != nil {
				defer done()
			}
			next.ServeHTTP(w, r)
		})
	}
}

// answer writes the whole answer to a refused request.
func (r *Refusal) answer(w http.ResponseWriter) {
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(RetrySeconds(r.RetryAfter), 10))
	}
	http.Error(w, fmt.Sprintf("%d %s: limit %q", r.Status, http.StatusText(r.Status), r.Limit), r.Status)
}
