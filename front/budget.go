package front

import "github.com/weirhq/weir/internal/machine"

// A fileBudget shares out the files that the process may have open: what it
// needs itself comes first, and a proxied request needs two.
type fileBudget struct {
	files     int // that the process may have open; 0 when nobody knows
	clients   int // connections of clients
	upstreams int // connections to upstreams, and so requests in flight
}

const (
	// ownFiles are kept for what the process opens while it runs: logs, looking
	// up names, reading the configuration and /proc, connections that are turned
	// away, and adminConns.
	ownFiles = 64
	// manyFiles is where there is no use in counting.
	manyFiles = 1 << 20
)

// shareFiles shares out what may be open where some files are open already, to
// wanted connections of clients or, at 0, as many as there can be. A process
// that may have few files keeps a quarter for itself.
func shareFiles(allowed uint64, open, wanted int) fileBudget {
	files := int(min(allowed, manyFiles))
	rest := max(files-open, 0)
	rest = max(rest-min(ownFiles, rest/4), 2)
	clients := rest / 2
	if wanted > 0 {
		clients = min(clients, wanted)
	}
	return fileBudget{files: files, clients: clients, upstreams: rest - clients}
}

// AllowedConnections returns how many connections of clients a door has at most
// where openFiles may be open and open are already: as many as there can be, or
// wanted, as [config.Limits.MaxConnections] has it.
func AllowedConnections(openFiles uint64, open, wanted int) int {
	if openFiles == 0 {
		openFiles = manyFiles
	}
	return shareFiles(openFiles, open, wanted).clients
}

// newFileBudget raises the limit of open files and shares them out.
func newFileBudget(wanted int) fileBudget {
	allowed, err := machine.RaiseOpenFiles()
	if err != nil || allowed == 0 {
		b := shareFiles(manyFiles, 0, wanted) // whatever it is, it will be met when it is reached
		b.files = 0
		return b
	}
	return shareFiles(allowed, machine.OpenFilesNow(), wanted)
}

// eventLowered says that a limit cannot be what the configuration says.
const eventLowered = "limit lowered to what open files allow"

// warnOfFiles says which limits the open files do not allow.
func (d *Door) warnOfFiles() {
	for _, l := range []struct {
		name            limitName
		wanted, allowed int
	}{
		{limitConnections, d.cfg.Limits.MaxConnections, d.files.clients},
		{limitInFlight, d.cfg.Limits.InFlight, d.files.upstreams},
	} {
		if l.wanted > l.allowed {
			d.log.Warn(eventLowered).Str("limit", string(l.name)).Int("wanted", l.wanted).Int("allowed", l.allowed).
				Int("open_files", d.files.files).Send()
		}
	}
}
