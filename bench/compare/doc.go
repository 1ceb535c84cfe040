// Package compare tries the tables in which README.md and docs/moving.md compare Weir with nginx, Caddy, Traefik and
// HAProxy. Its test starts each program with a configuration for each aspect of a row, sends requests, and compares the
// observation with the cell. make bench-compare runs it.
package compare
