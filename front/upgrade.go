package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/weirhq/weir/front/internal/takeover"
	"github.com/weirhq/weir/front/internal/wire"
	"github.com/weirhq/weir/internal/sibling"
)

// Adopt gives the front door listeners that Listen uses instead of binding an address, by
// the elements of Listen, and Admin, of the configuration. Listeners that it does not use
// are closed. Call it before Listen.
func (d *Door) Adopt(listeners map[string][]*net.TCPListener) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	d.server.Adopt(listeners)
}

// upgradeReady is the message of the next process when it serves.
const upgradeReady = "ready"

// Upgrade hands the listeners over to the next process, and returns nil when that process
// serves. Then the caller ends the context of [Door.Serve], which drains. Both processes
// accept connections until then. After an error, this process serves as before.
//
// start starts the next process, which passes name to [Succeed]. exited receives a value
// when that process has ended. No reload and no drain happens until Upgrade returns. While the
// process before this one drains connections of HTTP/3, Upgrade returns an error.
func (d *Door) Upgrade(
	ctx context.Context, start func(name string) (pid int, exited <-chan error, err error),
) error {
	d.preparing.Lock()
	defer d.preparing.Unlock()
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if d.draining.Load() {
		return ErrDraining
	}
	name := fmt.Sprint("weir/upgrade/", os.Getpid())
	offers, err := sibling.Listen(name)
	if err != nil {
		return fmt.Errorf("offering the listeners: %w", err)
	}
	defer offers.Close()
	if err := d.server.HandOver(); err != nil {
		return err
	}
	pid, exited, err := start(name)
	if err != nil {
		return err
	}
	handed := make(chan error, 1)
	go func() { handed <- handOver(ctx, offers, pid, d.server) }()
	select {
	case err = <-handed:
	case failed := <-exited:
		offers.Close()
		<-handed
		err = fmt.Errorf("the next process has ended: %w", failed)
	case <-ctx.Done():
		offers.Close()
		<-handed
		err = fmt.Errorf("the next process is not ready: %w", ctx.Err())
	}
	if err != nil {
		return err
	}
	d.server.HandedOver() // /readyz is that of the next process
	return nil
}

// handOver sends the listeners to the process with the given id and waits until it is
// ready.
func handOver(ctx context.Context, offers *net.UnixListener, pid int, s *wire.Server) error {
	c, by, err := sibling.Accept(offers)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if by != pid {
		return fmt.Errorf("the process %d asks for the listeners, not %d", by, pid)
	}
	keys, listeners := s.Listeners()
	message, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	if err := takeover.Send(c, message, listeners); err != nil {
		return fmt.Errorf("sending the listeners: %w", err)
	}
	ready := make([]byte, len(upgradeReady))
	if _, err := io.ReadFull(c, ready); err != nil {
		return errors.New("the next process has ended before it was ready")
	}
	return nil
}

// A Predecessor is the process that this one replaces; see [Door.Upgrade].
type Predecessor struct {
	conn      *net.UnixConn
	listeners map[string][]*net.TCPListener
}

// Succeed takes over the listeners of the process that has started this one. name is the
// name of [Door.Upgrade].
func Succeed(name string) (*Predecessor, error) {
	c, err := sibling.Dial(name)
	if err != nil {
		return nil, err
	}
	c.SetReadDeadline(time.Now().Add(takeover.Timeout))
	message, listeners, err := takeover.Receive(c)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("receiving the listeners: %w", err)
	}
	var keys []string
	if err := json.Unmarshal(message, &keys); err != nil || len(keys) != len(listeners) {
		c.Close()
		return nil, errors.Join(takeover.ErrNone, err)
	}
	p := &Predecessor{conn: c, listeners: make(map[string][]*net.TCPListener)}
	for i, key := range keys {
		p.listeners[key] = append(p.listeners[key], listeners[i])
	}
	return p, nil
}

// Listeners returns the listeners for [Door.Adopt].
func (p *Predecessor) Listeners() map[string][]*net.TCPListener { return p.listeners }

// Ready reports to the other process that this one serves. The other process then drains.
func (p *Predecessor) Ready() error {
	_, err := io.WriteString(p.conn, upgradeReady)
	return errors.Join(err, p.conn.Close())
}
