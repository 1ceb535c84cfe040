package redisstore

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	"github.com/gomodule/redigo/redis"
)

// A script is a script on the server.
type script struct{ text, hash string }

func newScript(text string) *script {
	hash := sha1.Sum([]byte(text)) // the name of the script, by EVALSHA
	return &script{text, hex.EncodeToString(hash[:])}
}

// A call is one run of a script, and its reply.
type call struct {
	script *script
	keys   []string // in one slot of a cluster
	args   []string

	reply any
	err   error

	whole bool   // send the text of the script, which the server lacks
	node  string // send it there, although another node has the slot: the slot moves
}

// maxRounds is the number of round trips of a call: one for a call whose slot and script are known, and one each for
// the script, the node that has the slot, and the node to which the slot moves.
const maxRounds = 5

// run runs scripts, those of each server in one round trip. It repeats the calls that a server
// has refused before it ran them: because it lacks the script (after its start, a failover, or
// SCRIPT FLUSH), or because another node has the keys.
func (s *Store) run(ctx context.Context, calls []call) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	left := make([]*call, len(calls))
	for i := range calls {
		left[i] = &calls[i]
	}
	for range maxRounds {
		servers := make(map[string][]*call)
		for _, c := range left {
			address := s.servers.of(c)
			servers[address] = append(servers[address], c)
		}
		var all sync.WaitGroup
		for address, calls := range servers {
			all.Go(func() { s.servers.send(ctx, address, calls) })
		}
		all.Wait()
		left = left[:0]
		for address, calls := range servers {
			for _, c := range calls {
				if s.servers.repeat(c, address) {
					left = append(left, c)
				}
			}
		}
		if len(left) == 0 {
			return
		}
	}
}

// repeat reports whether a call has to be sent again, and remembers where.
func (s *servers) repeat(c *call, address string) bool {
	var refused redis.Error
	if !errors.As(c.err, &refused) {
		return false
	}
	c.node = ""
	kind, rest, _ := strings.Cut(string(refused), " ")
	if strings.Contains(rest, "READONLY") { // up to version 6, a script's errors are a part of its message
		kind = "READONLY"
	}
	switch kind {
	case "NOSCRIPT":
		c.whole = true
	case "MOVED":
		s.moved(c, redirection(rest, address))
	case "ASK":
		c.node = redirection(rest, address)
	case "READONLY": // after a failover, its name may lead to another server
		s.disconnect(address)
		return false
	default:
		return false
	}
	return true
}

// send sends calls to a server.
func (s *servers) send(ctx context.Context, address string, calls []*call) {
	conn, err := s.connect(ctx, address)
	if err != nil {
		s.failed(address, calls, err)
		return
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = exchange(conn, calls)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		s.failed(address, calls, err)
		return
	}
	s.free(address, conn)
}

// exchange sends calls and receives their replies. The error is that of the connection.
func exchange(conn redis.Conn, calls []*call) error {
	for _, c := range calls {
		c.reply, c.err = nil, nil
		if c.node != "" {
			if err := conn.Send("ASKING"); err != nil {
				return err
			}
		}
		name, script := "EVALSHA", c.script.hash
		if c.whole {
			name, script = "EVAL", c.script.text
		}
		args := redis.Args{script, len(c.keys)}.AddFlat(c.keys).AddFlat(c.args)
		if err := conn.Send(name, args...); err != nil {
			return err
		}
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	for _, c := range calls {
		if c.node != "" {
			if _, err := conn.Receive(); conn.Err() != nil {
				return err
			}
		}
		if c.reply, c.err = conn.Receive(); conn.Err() != nil {
			return c.err
		}
	}
	return nil
}
