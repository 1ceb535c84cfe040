// Package files finds the file that a request is for, and determines the response:
// the status, the ranges of bytes, and the fields that describe the file.
//
// A request reaches only regular files below a folder. Names are checked before the
// system sees them ([ParseName]), and the system resolves them beneath the folder
// ([Folder]). No operation waits for a disk unless its caller allows it.
package files
