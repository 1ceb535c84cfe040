// Package perf counts events in processes, as perf_event_open(2) does: the instructions that a processor executes.
package perf
