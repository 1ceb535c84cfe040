package front

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/sibling"
)

// bind listens on addr. If a draining process has the address, bind takes over
// its listener.
func bind(addr string) (*net.TCPListener, error) {
	if strings.HasPrefix(addr, config.SystemdPrefix) {
		return nil, errNoSocket(addr)
	}
	l, err := listenTCP(addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		taken, takeErr := takeListener(addr)
		if takeErr == nil {
			return taken, nil
		}
		l, err = listenTCP(addr) // the other process may have ended in the meantime
	}
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// errNoSocket is the error for a socket that systemd has not passed.
type errNoSocket string

func (e errNoSocket) Error() string {
	return "systemd has passed no socket with the name " + strings.TrimPrefix(string(e), config.SystemdPrefix) +
		", or a reload has closed it"
}

// listenTCP listens without Multipath TCP, which has no filters; see transport.IgnoreNew.
func listenTCP(addr string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", addr)
}

// A listenerOffer is a listener that the next process may take over.
type listenerOffer struct {
	listener *net.TCPListener
	addr     string // as configured
	taken    func() // called each time that a process has taken over the listener
}

// offerListeners offers listeners to the next process until withdraw is called.
// It calls failed for each listener that it cannot offer.
func offerListeners(offers []listenerOffer, failed func(error)) (withdraw func()) {
	var ends []func()
	for _, o := range offers {
		end, err := offerListener(o.listener, withPort(o.addr, o.listener), o.taken)
		switch {
		case errors.Is(err, errors.ErrUnsupported): // the handover needs Linux
		case err != nil:
			failed(err)
		default:
			ends = append(ends, end)
		}
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// withPort returns a configured address with the port of l.
func withPort(configured string, l *net.TCPListener) string {
	host, _, _ := net.SplitHostPort(configured)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

// takeoverTimeout is the time limit for the handover of a listener.
const takeoverTimeout = time.Second

// takeoverName returns the name at which a draining process offers its listener on the
// TCP address addr.
func takeoverName(addr string) string { return "weir/listener/" + addr }

// offerListener sends a copy of the listener to each process of the same user that
// asks for it, until withdraw is called. It calls taken each time. Both processes
// then accept from one queue, so that a connection in it survives the end of this
// process. With SO_REUSEPORT, each process would have its own queue, and the
// kernel would reset the connections in it when the process ends.
func offerListener(tcp *net.TCPListener, addr string, taken func()) (withdraw func(), err error) {
	offers, err := sibling.Listen(takeoverName(addr))
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, _, err := sibling.Accept(offers)
			if err != nil {
				return // closed by withdraw
			}
			c.SetDeadline(time.Now().Add(takeoverTimeout))
			if sendListeners(c, []byte{0}, []*net.TCPListener{tcp}) == nil {
				taken()
			}
			c.Close()
		}
	}()
	return func() {
		offers.Close()
		<-done
	}, nil
}

// takeListener returns the listener on addr of a draining process.
func takeListener(addr string) (*net.TCPListener, error) {
	c, err := sibling.Dial(takeoverName(addr))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(takeoverTimeout))
	_, listeners, err := receiveListeners(c)
	if err != nil {
		return nil, err
	}
	if len(listeners) == 0 {
		return nil, errNoListener
	}
	return listeners[0], nil
}

// sendListeners sends a message with listeners to another process.
func sendListeners(c *net.UnixConn, message []byte, listeners []*net.TCPListener) error {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, l := range listeners {
		f, err := l.File()
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	return sibling.Send(c, message, files)
}

var errNoListener = errors.New("the other process sent no TCP listener")

// receiveListeners receives a message with listeners.
func receiveListeners(c *net.UnixConn) (message []byte, listeners []*net.TCPListener, err error) {
	message, files, err := sibling.Receive(c)
	for _, f := range files {
		l, failed := net.FileListener(f) // a copy
		f.Close()
		tcp, ok := l.(*net.TCPListener)
		if !ok {
			err = errors.Join(err, failed, errNoListener)
			continue
		}
		listeners = append(listeners, tcp)
	}
	if err != nil {
		for _, l := range listeners {
			l.Close()
		}
		return nil, nil, err
	}
	return message, listeners, nil
}
