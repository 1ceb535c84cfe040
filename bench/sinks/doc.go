// Package sinks compares the ways in which log lines can leave a process: with one write per line, or buffered. Two
// goroutines log the three events of a proxied request through one logger, to a file or to a pipe that another process
// reads. Every row runs in its own process (bench/cmd/sinkrow), so that its CPU time can be measured.
//
// [Work] is the work of that process. [Bench.Pass] starts it and counts the lines that it wrote.
package sinks
