package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

// maxUDP is the size of UDP responses that the queries announce, as of DNS Flag Day 2020: they
// are not fragmented.
const maxUDP = 1232

var errGarbage = errors.New("the response is malformed")

// ask sends a query to each server in turn until one responds to it.
func (c *client) ask(ctx context.Context, query *dns.Msg) (*response, error) {
	var failed error
	for range c.attempts {
		for _, server := range c.servers {
			r, err := c.askOne(ctx, server, query)
			if err == nil {
				return r, nil
			}
			failed = fmt.Errorf("name server %s: %w", server, err)
			if ctx.Err() != nil {
				return nil, failed
			}
		}
	}
	return nil, failed
}

// askOne asks one server over UDP, and then over TCP if the response is truncated.
func (c *client) askOne(ctx context.Context, server string, query *dns.Msg) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	m, err := roundTrip(ctx, "udp", server, query)
	if err == nil && m.Truncated {
		m, err = roundTrip(ctx, "tcp", server, query)
	}
	if err != nil {
		return nil, err
	}
	if m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("it responds with %s", dns.RcodeToString[m.Rcode])
	}
	return newResponse(m)
}

// roundTrip sends a query on a socket of its own, whose port the kernel chooses at random, with
// a random number, and returns the response.
func roundTrip(ctx context.Context, network, server string, query *dns.Msg) (*dns.Msg, error) {
	query.Id = dns.Id()
	conn, err := new(net.Dialer).DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c := &dns.Conn{Conn: conn, UDPSize: maxUDP}
	if err := c.WriteMsg(query); err != nil {
		return nil, err
	}
	for {
		m, err := c.ReadMsg()
		switch {
		case responds(m, query):
			if err != nil && !m.Truncated {
				return nil, errGarbage
			}
			return m, nil
		case m == nil && !errors.Is(err, dns.ErrShortRead):
			return nil, err
		case network == "tcp":
			return nil, errGarbage
		}
	}
}
