// Package otlpsinktest tests log/otlpsink with the OpenTelemetry Collector. The tests are not in
// that module, because it would require this one.
package otlpsinktest
