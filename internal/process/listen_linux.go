package process

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// ListeningOn returns the process that listens on a TCP address of this
// machine. If several processes share a listener or a port, it returns the
// oldest one, which has forked the others. The error wraps [fs.ErrNotExist] if
// no process of this machine listens there, and [fs.ErrPermission] if one does
// whose files this process may not read.
func ListeningOn(addr netip.AddrPort) (pid int, err error) {
	addr = netip.AddrPortFrom(addr.Addr().Unmap().WithZone(""), addr.Port())
	fail := func(err error) (int, error) {
		return 0, fmt.Errorf("find the process that listens on %v: %w", addr, err)
	}
	if err := isHere(addr.Addr()); err != nil {
		return fail(err)
	}
	sockets, err := listeners(addr)
	if err != nil {
		return fail(err)
	}
	if len(sockets) == 0 {
		return fail(fmt.Errorf("no process of this machine does: %w", fs.ErrNotExist))
	}
	if pid, err = oldestWith(sockets); err != nil {
		return fail(err)
	}
	return pid, nil
}

// isHere returns an error unless addr is an address of this machine.
func isHere(addr netip.Addr) error {
	if addr.IsLoopback() || addr.IsUnspecified() {
		return nil
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	for _, a := range own {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap() == addr {
			return nil
		}
	}
	return fmt.Errorf("%v is not an address of this machine: %w", addr, fs.ErrNotExist)
}

// listeners returns the links in /proc/PID/fd of the sockets that accept
// connections to addr. Like the kernel, it prefers sockets of that address to
// sockets of all addresses.
func listeners(addr netip.AddrPort) (links map[string]bool, err error) {
	exact, wildcard := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		err := eachListener(name, func(local netip.AddrPort, inode string) {
			switch {
			case local.Port() != addr.Port():
			case local.Addr().Unmap() == addr.Addr():
				exact["socket:["+inode+"]"] = true
			case local.Addr().IsUnspecified() && (local.Addr().Is6() || addr.Addr().Is4()):
				wildcard["socket:["+inode+"]"] = true
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without IPv6 there is no tcp6
			return nil, err
		}
	}
	if len(exact) > 0 {
		return exact, nil
	}
	return wildcard, nil
}

// eachListener calls f for each listening socket. The kernel lists these first
// (Documentation/networking/proc_net_tcp.rst), and the others may be tens of thousands.
func eachListener(name string, f func(local netip.AddrPort, inode string)) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // column names
	for lines.Scan() {
		const local, state, inode, listen = 1, 3, 9, "0A"
		columns := strings.Fields(lines.Text())
		if len(columns) <= inode || columns[state] != listen {
			break
		}
		addr, err := parseAddr(columns[local])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f(addr, columns[inode])
	}
	return lines.Err()
}

// parseAddr parses "0100007F:1F90", which is 127.0.0.1:8080 on a little-endian
// machine: each group of four bytes is a number in native byte order.
func parseAddr(s string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("local address %q: %w", s, err)
	}
	for i := 0; i+4 <= len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	addr, ok := netip.AddrFromSlice(b)
	number, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, fmt.Errorf("local address %q: not an address and a port in hexadecimal", s)
	}
	return netip.AddrPortFrom(addr, uint16(number)), nil
}

// oldestWith returns the oldest process that has one of the links open.
func oldestWith(links map[string]bool) (pid int, err error) {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var oldest int64
	denied := errors.New("no process has the socket open") // the socket is being closed
	for _, entry := range processes {
		number, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		has, err := hasLink("/proc/"+entry.Name()+"/fd", links)
		if errors.Is(err, fs.ErrPermission) {
			denied = fmt.Errorf("the files of some processes may not be read: %w", fs.ErrPermission)
		}
		if !has {
			continue
		}
		if stat, err := ReadStat(number); err == nil && (pid == 0 || stat.Started < oldest) {
			pid, oldest = number, stat.Started
		}
	}
	if pid == 0 {
		return 0, denied
	}
	return pid, nil
}

// hasLink reports whether a directory contains one of the links.
func hasLink(dir string, links map[string]bool) (bool, error) {
	file, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer file.Close()
	names, err := file.Readdirnames(-1)
	for _, name := range names {
		if link, err := os.Readlink(dir + "/" + name); err == nil && links[link] {
			return true, nil
		}
	}
	return false, err
}
