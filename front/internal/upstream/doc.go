// Package upstream makes the upstreams of a configuration and keeps their servers up to date: the addresses of names,
// the lists outside of the configuration, and the health of each server. It logs and counts what changes.
package upstream
