// Package limit bounds incoming requests: how many are in flight, how many arrive per
// second, how long their bodies are and how slowly they may arrive.
//
//   - [InFlight] admits a number of requests at a time and lets a few wait. It protects
//     a service of limited capacity. The number can follow the capacity of the service.
//     Start with this one.
//   - [Rate] admits a number of requests per second for each client, route or other
//     [Key]. It shares capacity among clients. A request may wait for its turn, and may
//     count as several. With package lease, replicas of a program share a Rate.
//   - [MaxBody] bounds the length of a request's body.
//   - [Pace] detects a peer that sends or reads too slowly.
//
// Each is a value with plain methods. Methods that do not wait take the time as an argument.
// The zero value of each sets no limit. Each has a method Policy, and one
// [Middleware] serves all policies:
//
//	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 100, Queue: 200})
//	handler = limit.Middleware(inFlight.Policy("site"), nil)(handler)
//
// Guarantees:
//
//   - Memory is bounded by Queue and Keys, whatever clients do.
//   - A Rate never admits more requests than its burst and the tokens that have
//     returned since, even if it has no space for a new key or the clock is set.
//   - An InFlight never has more than Max requests in flight and never loses a slot,
//     even if a context ends at the moment when its turn comes.
//   - A decision without waiting does not allocate.
//   - Every refusal has a reason, and InFlight and Rate count theirs.
//
// # For users of golang.org/x/time/rate
//
//	rate.NewLimiter(100, 20)    limit.NewRate(limit.RateOptions{Every: time.Second / 100, Burst: 20})
//	l.AllowN(now, n)            r.AllowN(now, key, n).OK
//	l.WaitN(ctx, n)             r.WaitN(ctx, key, n)
//	l.ReserveN(now, n).Delay()  r.AllowN(now, key, n).RetryAfter, without a reservation
//	l.TokensAt(now)             r.AllowN(now, key, 0).Remaining
//
// A Rate has a bucket for each key; use limit.Key{} if there is only one. If a call of WaitN
// gives up, all of its tokens are returned, and calls that wait after it are admitted earlier.
// A rate.Limiter keeps the tokens that later calls have reserved.
package limit
