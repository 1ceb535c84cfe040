// Package lease applies limits that the replicas of a program share. Their state is in a
// [Store], such as a server of Redis, but no decision waits for it: a replica leases tokens
// in batches, and decides with those.
//
//	leaser := lease.New(store, lease.Options{Fleet: "shop"})
//	go leaser.Run(ctx)
//	rate := leaser.Rate("api", limit.RateOptions{Every: 10 * time.Millisecond, Burst: 200})
//	handler = limit.Middleware(rate.Policy("api"), nil)(handler)
//
// The result of [Leaser.Rate] is a limit.Rate, as of one process. [Slots] divide a number of requests in flight among the replicas in the same way.
//
// # The tokens of a key
//
// Each key of a rate has a bucket in the store, and in each replica that uses it a lease: a
// number of tokens, and a credit. A request takes a token, or uses the credit. The goroutine
// of [Leaser.Run] checks the leases that are in use from time to time and exchanges tokens: it
// takes tokens that were used on credit from the bucket, and if the bucket may become empty,
// tokens that the demand of the next period needs. Unused tokens go back.
//
// The credit is a part of the tokens that are left in the bucket. While there are many, an
// exchange is rare: at most one in a second. If there are none, there is no credit, so that all
// replicas together never use more tokens than the bucket gets; a replica then asks for tokens
// once in 50 ms, and in a fleet of more than 10 replicas once in 5 ms for each of them, but at
// least once a second.
//
// # Without the store
//
// A lease in use has a share of the rate, for which the store takes tokens all the time. A replica
// that does not get a response of the store in time uses this share, and the others leave it that.
// The shares of all replicas add up to the rate at most. A share ends a minute after the last
// exchange. From then on, and before it for a key that the replica has not seen, the replica has
// the part of the rate that the others leave to an absent replica: the rate divided by the number
// of replicas, and half of that during the first minute. [Exchange] and [Join] describe the
// protocol.
package lease
