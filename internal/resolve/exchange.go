package resolve

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// maxUDP is the size of UDP answers that the queries announce, as of DNS Flag Day 2020: they
// are not fragmented.
const maxUDP = 1232

// ask sends a question to each server in turn until one answers it.
func (c *client) ask(ctx context.Context, q dnsmessage.Question) (*response, error) {
	var failed error
	for range c.attempts {
		for _, server := range c.servers {
			r, err := c.askOne(ctx, server, q)
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

// askOne asks one server over UDP, and then over TCP if the answer is truncated.
func (c *client) askOne(ctx context.Context, server string, q dnsmessage.Question) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, truncated, err := roundTrip(ctx, "udp", server, q)
	if err == nil && truncated {
		r, _, err = roundTrip(ctx, "tcp", server, q)
	}
	if err != nil {
		return nil, err
	}
	switch r.rcode {
	case dnsmessage.RCodeSuccess, dnsmessage.RCodeNameError:
		return r, nil
	}
	return nil, fmt.Errorf("it answers %s", strings.TrimPrefix(r.rcode.String(), "RCode"))
}

// roundTrip sends a question on a socket of its own, whose port the kernel chooses at random,
// and returns the answer.
func roundTrip(ctx context.Context, network, server string, q dnsmessage.Question) (*response, bool, error) {
	var random [2]byte
	rand.Read(random[:])
	id := binary.BigEndian.Uint16(random[:])
	query, err := appendQuery(make([]byte, 2, 2+512), id, q)
	if err != nil {
		return nil, false, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, server)
	if err != nil {
		return nil, false, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if network == "udp" {
		query = query[2:]
	} else {
		binary.BigEndian.PutUint16(query, uint16(len(query)-2))
	}
	if _, err := conn.Write(query); err != nil {
		return nil, false, err
	}
	buf := make([]byte, maxUDP)
	for {
		if network == "udp" {
			n, err := conn.Read(buf[:maxUDP])
			if err != nil {
				return nil, false, err
			}
			buf = buf[:n]
		} else if buf, err = readTCP(conn); err != nil {
			return nil, false, err
		}
		if r, truncated, err := parse(buf, id, q); err != errForeign {
			return r, truncated, err
		} else if network == "tcp" {
			return nil, false, err
		}
		buf = buf[:cap(buf)]
	}
}

// readTCP reads a message with its length.
func readTCP(conn net.Conn) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(conn, message)
	return message, err
}

// appendQuery appends the message of a question, with the size of UDP answers (EDNS, RFC 6891).
// The names in the message are relative to the end of b.
func appendQuery(b []byte, id uint16, q dnsmessage.Question) ([]byte, error) {
	m := dnsmessage.NewBuilder(b, dnsmessage.Header{ID: id, RecursionDesired: true})
	var edns dnsmessage.ResourceHeader
	if err := errors.Join(m.StartQuestions(), m.Question(q), m.StartAdditionals(),
		edns.SetEDNS0(maxUDP, dnsmessage.RCodeSuccess, false), m.OPTResource(edns, dnsmessage.OPTResource{})); err != nil {
		return nil, err
	}
	return m.Finish()
}
