// Package sibling connects processes of one user on one machine by abstract Unix sockets.
// Such a socket belongs to the network namespace, needs no folder, and disappears with its
// process. Only Linux has them; elsewhere all functions fail with errors.ErrUnsupported.
package sibling
