// Package stream delivers the lines of package log to a server: in batches with ids, and
// again after an error, until the server has stored them.
//
//	to, err := otlpsink.New("otlp+http://collector:4318")
//	...
//	out, err := stream.New(to, stream.Options{})
//	...
//	defer out.Close(ctx)
//	logger := log.New(out, log.Options{Namespace: "front-door"})
//
// A [Destination] knows the protocol of a server; log/otlpsink and log/natssink have some.
// A [Sink] has everything else: the queue, its limit and policy, the retries, and the exact
// counts. At any instant, events emitted = delivered + dropped + waiting.
package stream
