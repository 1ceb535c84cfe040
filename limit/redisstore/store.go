// Package redisstore stores the limits that replicas share in a server of Redis or Valkey, or
// in a cluster. It needs version 5 or later.
//
//	store, err := redisstore.Open("redis://:password@10.0.0.5:6379/1")
//	...
//	defer store.Close()
//	leaser := lease.New(store, lease.Options{Fleet: "shop"})
//
// # URLs
//
//	redis://[[user]:password@]host[:port][/database][?timeout=250ms]
//	redis://[[user]:password@]host[:port],host[:port],...
//	rediss://...?ca=ca.pem&cert=weir.pem&key=weir.key
//
// Several servers are nodes of one cluster; one node is enough, because it names the others.
// rediss is TLS. The files are read for each connection, so that new certificates are used.
package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/weirhq/weir/internal/redisurl"
	"github.com/weirhq/weir/limit/lease"
)

const defaultTimeout = 250 * time.Millisecond

// A Store is a [lease.Store] in a server of Redis or Valkey. Goroutines may share it.
type Store struct {
	timeout time.Duration // of a call
	servers *servers

	exchange, hold, join *script
}

// Open returns the store with a URL. It connects with the first call of a method.
func Open(url string) (*Store, error) {
	u, err := redisurl.Parse(url)
	if err != nil {
		return nil, err
	}
	timeout := u.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	return &Store{timeout: timeout, servers: newServers(u, timeout), exchange: newScript(exchangeScript),
		hold: newScript(holdScript), join: newScript(joinScript)}, nil
}

// Exchange implements lease.Store.
func (s *Store) Exchange(ctx context.Context, batch []lease.Exchange) error {
	calls := make([]call, len(batch))
	for i, x := range batch {
		calls[i] = call{script: s.exchange, keys: []string{x.Key}, args: []string{
			x.Replica + ":" + strconv.FormatInt(x.Lease, 10), micros(x.Every), micros(x.Fill), strconv.FormatInt(x.Taken, 10),
			strconv.FormatInt(x.Used, 10), strconv.FormatInt(x.Want, 10), decimal(x.Weight), decimal(x.Share),
			strconv.Itoa(x.Replicas), decimal(x.Least), decimal(x.Left), micros(lease.ShareTTL),
		}}
	}
	s.run(ctx, calls)
	failed := 0
	var err error
	for i := range batch {
		x := &batch[i]
		var r []int64
		if r, x.Err = calls[i].numbers(6); x.Err != nil {
			if refused := redis.Error(""); !errors.As(x.Err, &refused) {
				failed++
				err = x.Err
			}
			continue
		}
		x.Taken, x.Share, x.Remaining, x.Total = r[0], float64(r[1])/1e9, r[2], r[5]
		x.Reset, x.Retry = time.Duration(r[3])*time.Microsecond, time.Duration(r[4])*time.Microsecond
	}
	if failed < len(batch) { // a node of a cluster may be down
		return nil
	}
	return err
}

// micros returns a duration in microseconds as a decimal number.
func micros(d time.Duration) string { return decimal(float64(d) / float64(time.Microsecond)) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Hold implements lease.Store.
func (s *Store) Hold(ctx context.Context, h *lease.Hold) error {
	calls := []call{{
		script: s.hold, keys: []string{"{" + h.Key + "}", "{" + h.Key + "}:ends"}, // in one slot of a cluster
		args: []string{h.Replica, strconv.Itoa(h.Max), strconv.Itoa(h.Used), strconv.Itoa(h.Want), micros(h.TTL),
			strconv.Itoa(h.Granted), strconv.Itoa(h.Left), micros(lease.AbsentTime)},
	}}
	s.run(ctx, calls)
	granted, err := redis.Int(calls[0].reply, calls[0].err)
	h.Granted = granted
	return err
}

// Join implements lease.Store.
func (s *Store) Join(ctx context.Context, j *lease.Join) error {
	silent := "-1"
	if !j.Leave {
		silent = micros(j.Silent)
	}
	calls := []call{{script: s.join, keys: []string{j.Key}, args: []string{
		j.Replica, silent, micros(lease.AbsentTime), micros(lease.ShareTTL), micros(lease.ReplicaTTL),
	}}}
	s.run(ctx, calls)
	r, err := calls[0].numbers(3)
	if err == nil {
		j.Replicas, j.Absent, j.Gone = int(r[0]), int(r[1]), int(r[2])
	}
	return err
}

// numbers returns the n numbers of a reply.
func (c *call) numbers(n int) ([]int64, error) {
	r, err := redis.Int64s(c.reply, c.err)
	if err == nil && len(r) != n {
		err = fmt.Errorf("the script returned %d values", len(r))
	}
	return r, err
}

// Close closes the connections.
func (s *Store) Close() error {
	s.servers.close()
	return nil
}
