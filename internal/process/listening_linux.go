package process

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Listening returns the TCP addresses on which the process and its descendants listen,
// each once. The addresses of the process come first, then the addresses of its
// descendants by PID. Addresses of one process are in the order of its file
// descriptors, which is the order in time if none was closed. The error wraps
// [os.ErrProcessDone] if the process has ended.
func (p *Process) Listening() ([]netip.AddrPort, error) {
	if err := p.findDescendants(); err != nil {
		return nil, p.failed("find the children of", err)
	}
	sockets := make(map[string]netip.AddrPort)
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		err := eachListener(name, func(local netip.AddrPort, inode string) {
			sockets["socket:["+inode+"]"] = local
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without IPv6 there is no tcp6
			return nil, err
		}
	}
	found, err := p.listening(sockets)
	if err != nil {
		return nil, p.failed("list the files of", err)
	}
	for _, pid := range slices.Sorted(maps.Keys(p.descendants)) {
		member := p.descendants[pid]
		more, err := member.listening(sockets)
		if err != nil && !isGone(err) {
			return nil, member.failed("list the files of", err)
		}
		found = append(found, more...)
	}
	return found, nil
}

// AnswersAt reports whether the process or one of its descendants listens on a
// TCP address of this machine. The error wraps [fs.ErrNotExist] if no process
// of this network namespace does, [fs.ErrPermission] if files may not be read,
// and [os.ErrProcessDone] if the process has ended.
func (p *Process) AnswersAt(addr netip.AddrPort) (bool, error) {
	addr = netip.AddrPortFrom(addr.Addr().Unmap().WithZone(""), addr.Port())
	if err := isHere(addr.Addr()); err != nil {
		return false, err
	}
	links, err := listeners(addr)
	if err != nil {
		return false, err
	}
	if len(links) == 0 {
		return false, fmt.Errorf("no process listens on %v: %w", addr, fs.ErrNotExist)
	}
	if err := p.findDescendants(); err != nil {
		return false, p.failed("find the children of", err)
	}
	sockets := make(map[string]netip.AddrPort)
	for link := range links {
		sockets[link] = addr
	}
	for _, member := range append([]*Process{p}, p.members...) {
		found, err := member.listening(sockets)
		if err != nil && (member == p || !isGone(err)) {
			return false, member.failed("list the files of", err)
		}
		if len(found) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// listening returns the addresses of the sockets that the process has open, and
// removes these from the map.
func (p *Process) listening(sockets map[string]netip.AddrPort) (found []netip.AddrPort, err error) {
	if _, err := unix.Seek(p.fds, 0, unix.SEEK_SET); errors.Is(err, unix.EBADF) {
		return nil, unix.EACCES // open had no permission to list them
	} else if err != nil {
		return nil, err
	}
	names, err := p.names(p.fds)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, byNumber)
	link := make([]byte, 64) // a longer link is not a socket's
	for _, name := range names {
		n, err := unix.Readlinkat(p.fds, name, link)
		if err != nil {
			continue // it was closed
		}
		if addr, ok := sockets[string(link[:n])]; ok {
			found = append(found, addr)
			delete(sockets, string(link[:n]))
		}
	}
	return found, nil
}

func byNumber(a, b string) int {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return x - y
}
