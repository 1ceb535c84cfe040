// Package takeover lets a process take over the listening sockets of another process of the same user.
//
// A process that drains offers its listeners by address ([OfferAll]), and [Listen] takes one over if
// its address is in use. [Send] and [Receive] hand listeners over on a connection between the two.
package takeover

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/sibling"
)

const (
	// retry is the interval at which Listen tries again to get an address that another process has.
	retry = 50 * time.Millisecond
	// listenTries is how often Listen tries. A process that begins to drain needs a moment to make its offer.
	listenTries = 10
)

// Listen listens on addr. If a draining process has the address, Listen takes over
// its listener.
func Listen(addr string) (*net.TCPListener, error) {
	for tries := 1; ; tries++ {
		l, err := listenTCP(addr)
		if err == nil {
			return l.(*net.TCPListener), nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
		taken, takeErr := take(addr)
		if takeErr == nil {
			return taken, nil
		}
		if tries == listenTries || errors.Is(takeErr, errors.ErrUnsupported) {
			return nil, err
		}
		time.Sleep(retry)
	}
}

// listenTCP listens without Multipath TCP, which has no filters; see transport.IgnoreNew.
func listenTCP(addr string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", addr)
}

// An Offer is a listener that the next process may take over.
type Offer struct {
	Listener *net.TCPListener
	Addr     string // as configured
	Taken    func() // if not nil, called once a process has taken over the listener, which ends the offer
}

// OfferAll offers listeners to the next process until withdraw is called.
// It calls failed for each listener that it cannot offer.
func OfferAll(offers []Offer, failed func(error)) (withdraw func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, o := range offers {
		running.Go(func() {
			err := o.run(ctx)
			if err != nil && ctx.Err() == nil && !errors.Is(err, errors.ErrUnsupported) { // the handover needs Linux
				failed(err)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// withPort returns a configured address with the port of l.
func withPort(configured string, l *net.TCPListener) string {
	host, _, _ := net.SplitHostPort(configured)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

// Timeout is the time limit for the handover of a listener.
const Timeout = time.Second

// name returns the name at which a draining process offers its listener on the
// TCP address addr.
func name(addr string) string { return "weir/listener/" + addr }

// run sends a copy of the listener to each process of the same user that
// asks for it, until ctx ends. Both processes then accept from one queue, so that
// a connection in it survives the end of this process. With SO_REUSEPORT, each
// process would have its own queue, and the kernel would reset the connections in it
// when the process ends.
func (o Offer) run(ctx context.Context) error {
	// An earlier process that drains may have the name.
	asking, err := sibling.ListenInTurn(ctx, name(withPort(o.Addr, o.Listener)))
	if err != nil {
		return err
	}
	defer asking.Close()
	defer context.AfterFunc(ctx, func() { asking.Close() })()
	for {
		c, _, err := sibling.Accept(asking)
		if err != nil {
			return nil // withdrawn
		}
		c.SetDeadline(time.Now().Add(Timeout))
		err = Send(c, []byte{0}, []*net.TCPListener{o.Listener})
		c.Close()
		if err == nil && o.Taken != nil {
			o.Taken()
			return nil
		}
	}
}

// take returns the listener on addr of a draining process.
func take(addr string) (*net.TCPListener, error) {
	c, err := sibling.Dial(name(addr))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(Timeout))
	_, listeners, err := Receive(c)
	if err != nil {
		return nil, err
	}
	if len(listeners) == 0 {
		return nil, ErrNone
	}
	return listeners[0], nil
}

// Send sends a message with listeners to another process.
func Send(c *net.UnixConn, message []byte, listeners []*net.TCPListener) error {
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

var ErrNone = errors.New("the other process sent no TCP listener")

// Receive receives a message with listeners.
func Receive(c *net.UnixConn) (message []byte, listeners []*net.TCPListener, err error) {
	message, files, err := sibling.Receive(c)
	for _, f := range files {
		l, failed := net.FileListener(f) // a copy
		f.Close()
		tcp, ok := l.(*net.TCPListener)
		if !ok {
			err = errors.Join(err, failed, ErrNone)
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
