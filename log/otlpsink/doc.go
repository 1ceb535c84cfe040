// Package otlpsink delivers the lines of package log to a server of OpenTelemetry, such as the
// Collector, over OTLP/HTTP:
//
//	to, err := otlpsink.New("otlp+http://collector:4318")
//	...
//	out, err := stream.New(to, stream.Options{})
//	...
//	logger := log.New(out, log.Options{Namespace: "shop"})
//
// It is a [stream.Destination]: package log/stream has the queue, the retries and the counts. With
// the defaults, an event costs up to four times the CPU time of one that is written to a file.
// Batches of 768 KiB and a Linger of 100 ms make that less.
// The lines must be JSON of shape v2 or v1: [log.FormatJSON], the default, or [log.FormatJSONv1].
//
// # URL
//
//	otlp+http://host:4318                    requests are sent to /v1/logs
//	otlp+https://host/otlp                   with TLS, to /otlp/v1/logs
//	otlp+https://user:password@host          special characters are written as %40 and so on
//	otlp+https://host?headers=FILE           header fields from a file, such as a token
//	otlp+http://host:4318?compression=zstd   gzip (the default), zstd or none
//	otlp+http://host:4318?timeout=5s         of a request; 10s by default
//	otlp+https://host?ca=ca.pem              certificates of authorities, instead of the system's
//	otlp+https://host?cert=a.pem&key=b.pem   a certificate of the client
//
// The file of headers has a line NAME: VALUE for each field, empty lines, and comments that
// begin with #. A change of the file applies to the next request. Redirects are not followed.
//
// # Records
//
// Each line becomes a record, by the semantic conventions of OpenTelemetry. The repository's
// docs/otlp.md has the table. A line that is not a JSON object becomes a record with the line
// as its body. The attribute log.record.uid identifies an event: a record that is sent again
// after an error has the same one.
//
// # Spans
//
// [NewSpans] is for lines that are spans of a trace. They go to /v1/traces instead of /v1/logs. The event
// is the name of the span, http.started_at and http.ended_at are its times, data.parent_span_id is its
// parent, and data.span_kind is server or client. Another member becomes the same attribute as in a record. A
// span with data["error.type"] has the status error, with the message of its first error.
//
// # Other signals
//
// A [Client] sends requests that its caller has encoded, such as metrics, with the same URL.
//
// # Errors
//
// A server that does not respond, or responds with 408, 429, 502, 503 or 504, gets the same
// records again, and not before the time in Retry-After, which counts up to five minutes. If
// the address or the token is wrong (3xx, 401, 403, 404, 405, 407), the records are sent again,
// too. They wait for the operator, although the specification of OTLP lets a client drop them.
//
// Records are lost only when the server refuses them: with a partial success, or with any
// other code of 400 or more. After 400, 413 or 422, the batch is divided, so that a bad record
// does not take the others with it.
package otlpsink
