// Package load compares load generators: their CPU time per request that the server counted, and the accuracy of their
// reports. Server and generator have one CPU each.
package load
