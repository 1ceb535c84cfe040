// Package filebudget divides the open files of a process between the connections
// of a proxy.
package filebudget

import "github.com/weirhq/weir/internal/machine"

// A Budget divides the open files of a process. The files that the process itself needs
// are reserved first. A proxied request needs two of the others.
type Budget struct {
	Files     int // the limit of open files; 0 if it is unknown
	Clients   int // connections of clients
	Upstreams int // connections to upstreams, which limits the requests in flight
}

const (
	// reserve is the number of files that the process keeps for itself: logs, DNS
	// lookups, the configuration, /proc, rejected connections, and connections to the
	// admin listener.
	reserve = 64
	// unlimited is used in place of any higher limit.
	unlimited = 1 << 20
)

// Share divides allowed files, of which some are open already. Clients get the
// wanted number of connections or, if that is 0, as many as possible. A process
// with few files keeps a quarter for itself. An allowed of 0 means that the limit
// is unknown.
func Share(allowed uint64, open, wanted int) Budget {
	if allowed == 0 {
		b := Share(unlimited, open, wanted)
		b.Files = 0
		return b
	}
	files := int(min(allowed, unlimited))
	free := max(files-open, 0)
	return Budget{Files: files, Clients: max(free-min(reserve, free/4), 2)}.Share(wanted)
}

// Raise raises the limit of open files of this process and divides them.
func Raise(wanted int) Budget {
	allowed, err := machine.RaiseOpenFiles()
	if err != nil || allowed == 0 {
		return Share(0, 0, wanted) // the limit is noticed when it is reached
	}
	return Share(allowed, machine.OpenFilesNow(), wanted)
}

// Share divides the same files with another wanted number of connections of clients; see
// the function [Share].
func (b Budget) Share(wanted int) Budget {
	free := b.Clients + b.Upstreams
	clients := free / 2
	if wanted > 0 {
		clients = min(clients, wanted)
	}
	return Budget{Files: b.Files, Clients: clients, Upstreams: free - clients}
}
