// Package load compares load generators: the processor time that each takes for a request that the server counted, and
// whether what it reports is what the server saw. Server and generator have a processor each.
package load
