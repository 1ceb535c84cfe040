// Package natssinktest tests log/natssink with the servers of package peer. Package natssink is
// in a module that does not require this one.
package natssinktest
