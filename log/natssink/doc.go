// Package natssink delivers the lines of package log to a stream of NATS JetStream:
//
//	to, err := natssink.New("nats://a:4222,b:4222/logs.shop?creds=shop.creds")
//	...
//	out, err := stream.New(to, stream.Options{})
//	...
//	logger := log.New(out, log.Options{Namespace: "shop"})
//
// It is a [stream.Destination]: package log/stream has the queue, the retries and the counts.
// [Parse] describes the URL. A stream must exist that stores the subject of the URL, which
// is created once with the client of NATS:
//
//	nats stream add LOGS --subjects 'logs.>' --max-bytes 10GiB --dupe-window 10m --defaults
//
// # Messages
//
// A message has the lines of one batch, each with its newline, and the header Nats-Msg-Id:
//
//	Nats-Msg-Id: 6f1c0a9d52e84b7793a1c4e0b8d2f635-4711-57
//
//	{"created_at":"2026-11-23T09:30:15.123Z","namespace":"shop",...}
//	{"created_at":"2026-11-23T09:30:15.124Z","namespace":"shop",...}
//	...
//
// The id consists of the source, the number of the first line and the number of lines. A
// source is a process, or its spill. Its lines are numbered in order. One message for each
// event would cost four times as much CPU time: each has an acknowledgement.
//
// Lines count as delivered when the stream has acknowledged their message. Without an
// acknowledgement the message is sent again, with the same id. The stream ignores it if the
// first one has arrived within the stream's duplicate window, which is two minutes unless it
// is set. After a longer outage a message can be in the stream twice. [Seen] finds the lines
// that a consumer has already read.
//
// # Errors
//
// A message that is larger than the server or the stream permits is divided. A line that is
// larger is rejected: see [stream.RejectedError]. All other errors are temporary, because an
// operator can correct them: no stream for the subject, a full stream that discards new
// messages, a wrong password, a server that is away.
package natssink
