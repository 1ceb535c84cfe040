package serve

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/front/config"
)

// passedSockets returns the TCP sockets that systemd passes to this process (LISTEN_FDS),
// by their address in a configuration. It prints those that the configuration does not use.
func passedSockets(cfg *config.Config, stderr io.Writer) (map[string][]*net.TCPListener, error) {
	passed, err := activation.ListenersWithNames()
	if err != nil {
		return nil, fmt.Errorf("sockets of systemd: %w", err)
	}
	sockets := make(map[string][]*net.TCPListener)
	for name, listeners := range passed {
		key := config.SystemdPrefix + name
		for _, l := range listeners {
			tcp, ok := l.(*net.TCPListener)
			if !ok {
				return nil, fmt.Errorf("the socket %s of systemd is not a TCP socket that listens", name)
			}
			sockets[key] = append(sockets[key], tcp)
		}
		if !isListener(cfg, key) {
			fmt.Fprintf(stderr, "weir: systemd has passed the socket %s, which is not used; add %s to listen\n", name, key)
		}
	}
	return sockets, nil
}

// isListener reports whether an address is that of a listener of the configuration.
func isListener(cfg *config.Config, key string) bool {
	return slices.Contains(cfg.Listen, key) || cfg.TLS != nil && slices.Contains(cfg.TLS.Listen, key) || cfg.Admin == key
}

// notify sends a state to systemd if it waits for notifications (Type=notify).
func notify(state string) error {
	_, err := daemon.SdNotify(false, state)
	return err
}

// reloading is the state of a service that begins a reload. Type=notify-reload needs the
// time.
func reloading() string {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return daemon.SdNotifyReloading
	}
	return fmt.Sprintf("%s\nMONOTONIC_USEC=%d", daemon.SdNotifyReloading, time.Duration(now.Nano()).Microseconds())
}

// ownEnviron returns the environment for the next process. LISTEN_FDS is for one process.
func ownEnviron(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LISTEN_")
	})
	return append(env, more...)
}
