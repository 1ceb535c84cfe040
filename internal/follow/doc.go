// Package follow reads files that other processes append to and rotate, and
// cuts the data into lines. Each read checks the file again. So the package
// needs no goroutine and no notifications, and works the same on every file
// system.
package follow
