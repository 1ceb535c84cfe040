// Package sinks compares the ways that a log's lines can leave a process: a write for each, or through what gathers
// them. Two goroutines log the three events of a proxied request through one logger, to a file or to a pipe that another
// process drains, and every row has a process of its own (bench/cmd/sinkrow), so that its processor time is its own.
//
// [Work] is what that process does, [Bench.Pass] what starts it and counts the lines that came out.
package sinks
