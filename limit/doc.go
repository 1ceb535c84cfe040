// Package limit bounds incoming requests: how many are in flight, how many arrive per
// second, how long their bodies are and how slowly they may arrive.
//
//   - [InFlight] admits a number of requests at a time and lets a few wait. It protects
//     a service of limited capacity. The number can follow the capacity of the service.
//     Start with this one.
//   - [Rate] admits a number of requests per second for each client, route or other
//     [Key]. It shares capacity among clients.
//   - [MaxBody] bounds the length of a request's body.
//   - [Pace] detects a peer that sends or reads too slowly.
//
// Each is a value with plain methods, which take the time as an argument where they
// need it. The zero value of each sets no limit. Each has a method Policy, and one
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
//   - Every refusal has a reason and is counted.
package limit
