// Package limit bounds what is let in: how many requests at once, how many per
// second, how many bytes, and how slowly.
//
//   - [InFlight] admits so many requests at a time, and makes a few wait. It
//     protects what cannot do more at once, and is the limit to begin with.
//   - [Rate] admits so many requests per second of each client, each route or
//     whatever has a [Key]. It divides between clients.
//   - [MaxBody] bounds a request's body.
//   - [Pace] tells which peer is too slow to be waited for.
//
// Each is a value with plain methods, to which the time is an argument where it
// matters, and each makes a [Policy]. There is one [Middleware] for all policies:
//
//	inFlight := limit.NewInFlight(limit.InFlightOptions{Max: 100, Queue: 200})
//	handler = limit.Middleware(inFlight.Policy("site"), nil)(handler)
//
// What is promised:
//
//   - Memory is bounded, whatever clients do: by Queue, by Keys, by nothing that
//     a client chooses.
//   - A Rate never admits more than its burst and what has come back since, not
//     even when it has no room for a key, or when the clock is set.
//   - An InFlight never has more than Max inside, and loses no place: not by a
//     context that ends at the moment in which its turn comes.
//   - A decision that does not wait allocates nothing.
//   - Nothing is refused without a count and a reason.
package limit
