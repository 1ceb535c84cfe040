module github.com/weirhq/weir/log/otlpsink

go 1.26.0

require (
	github.com/klauspost/compress v1.20.1
	github.com/weirhq/weir/log v0.1.0
	go.opentelemetry.io/proto/otlp v1.11.1
	google.golang.org/protobuf v1.36.12
)
