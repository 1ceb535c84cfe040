// Package follow reads files that others append to and rotate, and cuts what it
// reads into lines. A file is looked at whenever it is read, so that nothing
// but the calls is needed: no goroutine, no notification of the system, no
// difference between file systems.
package follow
