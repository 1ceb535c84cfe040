// Package weir is the module's root. It holds the tests that look at the
// module as a whole; the packages to import are log, router, proxy and front,
// and the command is cmd/weir.
package weir
