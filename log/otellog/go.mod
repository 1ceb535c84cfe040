module github.com/weirhq/weir/log/otellog

go 1.23.0

require github.com/weirhq/weir/log v0.1.0

require go.opentelemetry.io/otel/trace v1.35.0

require go.opentelemetry.io/otel v1.35.0 // indirect
