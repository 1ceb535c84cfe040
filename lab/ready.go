package lab

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/lab/internal/service"
)

// freePort returns a free port. It is below the range of ephemeral ports, so no
// connection of the load can take it before the service does.
func freePort() (int, error) {
	const first, count, tries = 10_000, 20_000, 100
	// A process that starts meanwhile has a copy of the listener until it executes its program.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var err error
	for range tries {
		port := first + rand.IntN(count)
		var l net.Listener
		if l, err = net.Listen("tcp", ":"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// checkFree returns an error if another program listens at the service's URL.
func checkFree(u string) error {
	address, err := addressOf(u)
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
	if err != nil {
		return nil // nothing listens there, as required
	}
	conn.Close()
	return fmt.Errorf("something else takes connections at %s already: end it, or give the service another port, as "+
		"${port}", address)
}

// addressOf returns the host and port of a URL.
func addressOf(u string) (string, error) {
	at, err := url.Parse(u)
	if err != nil {
		return "", err
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	if at.Hostname() == "" || port == "" {
		return "", fmt.Errorf("%q is not a URL of a service, http://HOST:PORT/", u)
	}
	return net.JoinHostPort(at.Hostname(), port), nil
}

// below returns the URL of a path on a service. Anything other than a path is
// returned as it is.
func below(service, path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	scheme, rest, _ := strings.Cut(service, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest + path
}

// awaitReady returns when the service is ready, and sets its URL if that was
// not known. The error is errEnded if the service has ended.
func (a *attempt) awaitReady(ctx context.Context) error {
	within := cmp.Or(a.Service.ReadyWithin, defaultReadyWithin)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	client := readyClient()
	defer client.CloseIdleConnections()
	var last error // without the error of the timeout itself
	for rest := time.Millisecond; ; rest = min(2*rest, 20*time.Millisecond) {
		err := a.checkReady(ctx, client)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-a.service.Ended():
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("not ready within %v: %w%s", within, last, a.elsewhere())
		case <-time.After(rest):
		}
	}
}

// readyClient returns a client for checkReady.
func readyClient() *http.Client {
	return &http.Client{
		// The load decides whether to trust the service's certificate.
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var errEnded = errors.New("the service has ended")

// checkReady sends the readiness request and returns nil if the service is ready.
func (a *attempt) checkReady(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if a.url == "" {
		var err error
		if a.url, err = listensAt(ctx, a.service.PID()); err != nil {
			return err
		}
		a.chosen = true
	}
	if a.Service.Ready == "" {
		at, err := reach(ctx, a.url)
		a.reached = at
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, below(a.url, a.Service.Ready), nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("GET %s: %s", req.URL, resp.Status)
	}
	return nil
}

// listening returns the addresses on which a process and its descendants listen,
// those of the process first.
func listening(pid int) ([]netip.AddrPort, error) {
	p, err := process.Open(pid)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Listening()
}

// listensAt returns the URL of the first port on which a process or a
// descendant of it listens.
func listensAt(ctx context.Context, pid int) (string, error) {
	addresses, err := listening(pid)
	if err != nil {
		return "", err
	}
	if len(addresses) == 0 {
		return "", errors.New("it listens on no port")
	}
	at := "http://" + reachable(addresses[0]).String() + "/"
	if _, err := reach(ctx, at); err != nil && addresses[0].Addr() == netip.IPv6Unspecified() { // only IPv6
		return "http://" + netip.AddrPortFrom(netip.IPv6Loopback(), addresses[0].Port()).String() + "/", nil
	}
	return at, nil
}

// reachable returns an address to which a client can connect.
func reachable(at netip.AddrPort) netip.AddrPort {
	if at.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return at
}

// elsewhere returns a sentence about the ports on which the service listens,
// for the error that it is not ready.
func (a *attempt) elsewhere() string {
	addresses, err := listening(a.service.PID())
	if err != nil || len(addresses) == 0 {
		return ""
	}
	return fmt.Sprintf("; it listens at %s: set service.url to its URL, and service.ready to a path that responds "+
		"when it is ready", listed(addresses))
}

func listed(addresses []netip.AddrPort) string {
	var texts []string
	for _, at := range addresses {
		texts = append(texts, at.String())
	}
	return strings.Join(texts, " and ")
}

// warnOfPorts warns if the lab has chosen one of several ports.
func (a *attempt) warnOfPorts() {
	if !a.chosen {
		return
	}
	addresses, err := listening(a.service.PID())
	if err != nil {
		return // it has ended
	}
	if one := slices.CompactFunc(addresses, samePort); len(one) > 1 {
		a.warn("the service listens at %s, and the first of them was loaded: name the right one by service.url",
			listed(one))
	}
}

func samePort(a, b netip.AddrPort) bool { return a.Port() == b.Port() }

// checkAnswerer returns an error if the process that listens at the service's
// URL is neither the service nor a descendant of it: the lab would measure the
// CPU and the memory of one process and the responses of another. It warns if it
// cannot find that process, which may be on another machine, in another network
// namespace or of another user.
func (a *attempt) checkAnswerer(ctx context.Context) error {
	if !a.reached.IsValid() { // only once: a service may log a connection without a request
		var err error
		if a.reached, err = reach(ctx, a.url); err != nil {
			return nil // it has ended, or accepts no more connections: the load reports that
		}
	}
	if running, ok := a.service.(*service.Running); ok {
		return a.checkRunning(running)
	}
	p, err := process.Open(a.service.PID())
	if err != nil {
		return nil // it has ended
	}
	defer p.Close()
	switch ok, err := p.AnswersAt(a.reached); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		a.warn("the process that responds at %s is not known (%v): CPU, memory and samples are taken from the service "+
			"that was started here", a.url, err)
	case err == nil && !ok:
		return fmt.Errorf("%s responds at %s, which is neither the service nor a child of it: end it, give the "+
			"service another port, as ${port}, or keep the service in the foreground",
			listener(a.reached), a.url)
	}
	return nil
}

// reach returns the address of a connection to a URL.
func reach(ctx context.Context, u string) (netip.AddrPort, error) {
	address, err := addressOf(u)
	if err != nil {
		return netip.AddrPort{}, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer conn.Close()
	return conn.RemoteAddr().(*net.TCPAddr).AddrPort(), nil
}

// listener names the process that listens on an address.
func listener(at netip.AddrPort) string {
	pid, err := process.ListeningOn(at)
	if err != nil {
		return "another process"
	}
	name := fmt.Sprintf("process %d", pid)
	if p, err := process.Open(pid); err == nil {
		defer p.Close()
		if command, err := p.Command(); err == nil {
			name += " (" + readable.Clip(readable.Visible(command)) + ")"
		}
	}
	return name
}
