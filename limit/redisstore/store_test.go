package redisstore_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
	"github.com/weirhq/weir/limit/redisstore"
)

func open(t testing.TB, url string) *redisstore.Store {
	t.Helper()
	s, err := redisstore.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// take takes tokens from a bucket of 10 tokens per second, at most 10.
func take(s lease.Store, key string, want int64) (taken int64, err error) {
	batch := []lease.Exchange{{Key: key, Every: 100 * time.Millisecond, Fill: time.Second, Want: want}}
	if err := s.Exchange(context.Background(), batch); err != nil {
		return 0, err
	}
	return batch[0].Taken, batch[0].Err
}

func TestExchange(t *testing.T) {
	s := open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address)
	for _, c := range []struct {
		used, want              int64
		taken, remaining, total int64
	}{
		{used: 0, want: 4, taken: 4, remaining: 6, total: 4},
		{used: 2, want: 0, taken: 2, remaining: 4, total: 6},
		{used: 1, want: 9, taken: 4, remaining: 0, total: 10},
		{used: 5, want: 1, taken: 5, remaining: 0, total: 15},
		{used: 0, want: -3, taken: -3, remaining: 0, total: 12},
		{used: 0, want: -99, taken: -99, remaining: 10, total: -87},
	} {
		x := lease.Exchange{Key: "k", Every: time.Minute, Fill: 10 * time.Minute, Used: c.used, Want: c.want}
		batch := []lease.Exchange{x}
		if err := s.Exchange(t.Context(), batch); err != nil || batch[0].Err != nil {
			t.Fatal(err, batch[0].Err)
		}
		if x = batch[0]; x.Taken != c.taken || x.Remaining != c.remaining || x.Total != c.total {
			t.Errorf("used %d, want %d: taken %d, remaining %d, total %d; want %d, %d, %d",
				c.used, c.want, x.Taken, x.Remaining, x.Total, c.taken, c.remaining, c.total)
		}
	}
}

// TestExchangeLikeModel compares random exchanges with those of the store in memory.
func TestExchangeLikeModel(t *testing.T) {
	s, model := open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), new(leasetest.Store)
	for range 500 {
		var got []lease.Exchange
		for range 1 + rand.IntN(5) {
			got = append(got, lease.Exchange{
				Key: fmt.Sprint("k", rand.IntN(10)), Every: time.Hour, Fill: 100 * time.Hour, // no token returns meanwhile
				Used: rand.Int64N(3), Want: rand.Int64N(20) - 8,
			})
		}
		want := append([]lease.Exchange(nil), got...)
		if err := s.Exchange(t.Context(), got); err != nil {
			t.Fatal(err)
		}
		if err := model.Exchange(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			w := want[i]
			near := (x.Reset-w.Reset).Abs() < time.Minute && (x.Retry-w.Retry).Abs() < time.Minute
			if x.Err != nil || x.Taken != w.Taken || x.Remaining != w.Remaining || x.Total != w.Total || !near {
				t.Fatalf("%+v\nwant %+v", x, w)
			}
		}
	}
}

func TestHold(t *testing.T) {
	for name, s := range map[string]lease.Store{
		"redis": open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), "memory": new(leasetest.Store),
	} {
		t.Run(name, func(t *testing.T) {
			hold := func(replica string, used, want int) int {
				t.Helper()
				h := lease.Hold{Key: "limit", Replica: replica, Max: 10, Used: used, Want: want, TTL: time.Minute}
				if err := s.Hold(t.Context(), &h); err != nil {
					t.Fatal(err)
				}
				return h.Granted
			}
			for i, c := range []struct {
				replica          string
				used, want, gets int
			}{
				{"a", 0, 2, 10}, // by itself
				{"b", 0, 2, 1},  // a has all, and gives back with its next call
				{"a", 0, 2, 5},  // half of the rest for each
				{"b", 0, 2, 5},
				{"a", 5, 9, 5}, // more wanted than there are
				{"b", 1, 9, 5},
				{"a", 5, 1, 1}, // ends five requests, and gets no others meanwhile
				{"b", 1, 9, 5}, // a still uses five
				{"a", 0, 1, 1},
				{"b", 5, 9, 9},
				{"a", 0, 0, 0}, // leaves
				{"b", 9, 9, 10},
			} {
				if got := hold(c.replica, c.used, c.want); got != c.gets && !(i == 2 && got > 1) {
					t.Errorf("step %d: %s gets %d, want %d", i, c.replica, got, c.gets)
				}
			}
		})
	}
}

func TestJoin(t *testing.T) {
	for name, s := range map[string]lease.Store{
		"redis": open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), "memory": new(leasetest.Store),
	} {
		t.Run(name, func(t *testing.T) {
			join := func(replica string, ttl time.Duration) int {
				t.Helper()
				n, err := s.Join(t.Context(), "fleet", replica, ttl)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			join("a", time.Minute)
			join("b", time.Millisecond)
			time.Sleep(10 * time.Millisecond)
			if n := join("c", time.Minute); n != 2 {
				t.Errorf("%d replicas, want a and c", n)
			}
			if n := join("a", 0); n != 1 {
				t.Errorf("%d replicas after a has left, want 1", n)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	root, other := certtest.Root(t, "root"), certtest.Root(t, "other")
	server := peer.StartRedis(t, peer.RedisOptions{TLS: root.Issue(t, certtest.Options{}), Root: root, Password: "a b/?@"})
	folder := t.TempDir()
	roots, _ := root.Write(t, folder, "root")
	wrong, _ := other.Write(t, folder, "other")
	cert, key := root.Issue(t, certtest.Options{Client: true}).
		Write(t, folder, "client")
	for _, c := range []struct {
		query string
		ok    bool
		fails string // part of the error
	}{
		{query: "ca=" + roots + "&cert=" + cert + "&key=" + key, ok: true},
		{query: "ca=" + wrong + "&cert=" + cert + "&key=" + key, fails: "certificate"},
		{query: "cert=" + cert + "&key=" + key, fails: "certificate"},
		{query: "ca=" + roots}, // the server resets the connection
		{query: "ca=" + folder + "/absent", fails: "no such file"},
	} {
		_, err := take(open(t, "rediss://:a%20b%2F%3F%40@"+server.Address+"?timeout=2s&"+c.query), "k", 1)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: error %v, want %q", c.query, err, c.fails)
		}
	}
}

func TestPassword(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{Password: "right"})
	for user, fails := range map[string]string{":right@": "", ":wrong@": "WRONGPASS", "": "NOAUTH"} {
		_, err := take(open(t, "redis://"+user+server.Address), "k", 1)
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
			t.Errorf("%s: error %v, want %q", user, err, fails)
		}
	}
}

// TestPermissions uses all scripts as the user of docs/limits.md, which has the fewest rights.
func TestPermissions(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{})
	docs, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`ACL SETUSER[^\n]+\n[^\n]+`).Find(docs)
	if reply := server.Ask(strings.Join(strings.Fields(string(rule)), " ")); reply != "+OK\r\n" {
		t.Fatalf("%s: %q", rule, reply)
	}
	s := open(t, "redis://weir:PASSWORD@"+server.Address+"/1")
	if _, err := take(s, "weir:shop:k", 1); err != nil {
		t.Error(err)
	}
	if _, err := s.Join(t.Context(), "weir:shop:replicas", "a", time.Minute); err != nil {
		t.Error(err)
	}
	h := lease.Hold{Key: "weir:shop:in_flight:all", Replica: "a", Max: 1, Want: 1, TTL: time.Minute}
	if err := s.Hold(t.Context(), &h); err != nil {
		t.Error(err)
	}
	if _, err := take(s, "weir:other:k", 1); err == nil {
		t.Error("no error for the key of another fleet")
	}
}

func TestDatabase(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{})
	for _, url := range []string{"redis://" + server.Address, "redis://" + server.Address + "/3"} {
		if n, err := take(open(t, url), "k", 10); n != 10 || err != nil {
			t.Errorf("%s: took %d (%v), want a full bucket in each database", url, n, err)
		}
	}
}

func TestCluster(t *testing.T) {
	nodes := peer.StartRedisCluster(t, 3)
	s := open(t, "redis://"+nodes[0].Address) // names the others
	var batch []lease.Exchange
	for i := range 60 {
		batch = append(batch, lease.Exchange{Key: fmt.Sprint("k", i), Every: time.Minute, Fill: time.Hour, Want: 2})
	}
	settled := func() (n int) {
		t.Helper()
		if err := s.Exchange(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		for _, x := range batch {
			if x.Err == nil && x.Taken == 2 {
				n++
			}
		}
		return n
	}
	if n := settled(); n != len(batch) {
		t.Fatalf("%d of %d buckets settled; the first: %+v", n, len(batch), batch[0])
	}
	for _, node := range nodes {
		if size := node.Ask("DBSIZE"); size == ":0\r\n" {
			t.Errorf("%s has no bucket", node.Address)
		}
		node.Ask("SCRIPT FLUSH")
	}
	if n := settled(); n != len(batch) {
		t.Errorf("%d of %d buckets settled after SCRIPT FLUSH", n, len(batch))
	}
	h := lease.Hold{Key: "limit", Replica: "a", Max: 10, Want: 1, TTL: time.Minute}
	if err := s.Hold(t.Context(), &h); err != nil || h.Granted != 10 {
		t.Errorf("granted %d slots, %v; want 10", h.Granted, err)
	}
	nodes[2].Stop()
	if n := settled(); n == 0 || n == len(batch) {
		t.Errorf("%d of %d buckets settled without one of three nodes, want a part", n, len(batch))
	}
}

// TestClockSetBack moves the times that the server has stored an hour ahead, as if its clock had
// been set back.
func TestClockSetBack(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{})
	s := open(t, "redis://"+server.Address)
	hold := func(replica string) int {
		t.Helper()
		h := lease.Hold{Key: "limit", Replica: replica, Max: 10, Used: 4, Want: 4, TTL: 5 * time.Second}
		if err := s.Hold(t.Context(), &h); err != nil {
			t.Fatal(err)
		}
		return h.Granted
	}
	join := func(replica string) int {
		t.Helper()
		n, err := s.Join(t.Context(), "fleet", replica, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	hold("dead")
	join("dead")
	if n, err := take(s, "k", 10); n != 10 || err != nil {
		t.Fatalf("took %d, %v", n, err)
	}
	const move = "local function ahead(key, field) redis.call('HINCRBYFLOAT', key, field, 3600e6) end " +
		"ahead('k', 'full_at') ahead('k', 'at') redis.call('ZINCRBY', '{limit}:ends', 3600e6, 'dead') " +
		"redis.call('ZINCRBY', 'fleet', 3600e6, 'dead')"
	if reply := server.Ask(`EVAL "` + move + `" 0`); reply != "$-1\r\n" {
		t.Fatal(reply)
	}
	if n, err := take(s, "k", 1); n != 0 || err != nil {
		t.Errorf("took %d of an empty bucket, %v", n, err)
	}
	time.Sleep(300 * time.Millisecond)
	if n, err := take(s, "k", 2); n != 2 || err != nil {
		t.Errorf("took %d (%v) in 300 ms, want 2", n, err)
	}
	if n := hold("a"); n != 10 {
		t.Errorf("%d slots beside a replica that is gone, want 10", n)
	}
	if n := join("a"); n != 1 {
		t.Errorf("%d replicas, want 1", n)
	}
}

// TestEvicted removes a part of the state of slots, as a server with too little memory does.
func TestEvicted(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{})
	s := open(t, "redis://"+server.Address)
	for i, key := range []string{"{limit}", "{limit}:ends"} {
		h := lease.Hold{Key: "limit", Replica: fmt.Sprint(i), Max: 10, Used: 4, Want: 4, TTL: time.Minute}
		if err := s.Hold(t.Context(), &h); err != nil {
			t.Fatal(err)
		}
		server.Ask("DEL " + key)
		h.Replica = "a"
		if err := s.Hold(t.Context(), &h); err != nil {
			t.Fatal(err)
		}
		if least := 5 * (i + 1); h.Granted < least {
			t.Errorf("%d slots without %s, want at least %d", h.Granted, key, least)
		}
	}
}

// TestFailover makes the server a replica of another one, to which its name leads from then on.
// The connections to the old one stay open.
func TestFailover(t *testing.T) {
	old, next := peer.StartRedis(t, peer.RedisOptions{}), peer.StartRedis(t, peer.RedisOptions{})
	name, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer name.Close()
	var primary atomic.Pointer[peer.Redis]
	primary.Store(old)
	go func() { // ends with name
		for {
			c, err := name.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", primary.Load().Address)
			if err != nil {
				c.Close()
				continue
			}
			go func() { io.Copy(server, c); server.Close() }()
			go func() { io.Copy(c, server); c.Close() }()
		}
	}()
	s := open(t, "redis://"+name.Addr().String())
	if _, err := take(s, "k", 1); err != nil {
		t.Fatal(err)
	}
	primary.Store(next)
	host, port, _ := net.SplitHostPort(next.Address)
	old.Ask("REPLICAOF " + host + " " + port)
	if _, err := take(s, "k", 1); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("error %v of a server that is not the primary any more", err)
	}
	if _, err := take(s, "k", 1); err != nil {
		t.Errorf("not connected to the new primary: %v", err)
	}
}

// TestFaults causes faults of a server, and checks the error and the recovery.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause func(*peer.Redis)
		fails string // the error, "" for none
		end   func(*peer.Redis)
	}{
		{"killed", (*peer.Redis).Stop, "EOF", (*peer.Redis).Start},
		{"stopped", func(r *peer.Redis) { r.Signal(syscall.SIGSTOP) }, "deadline",
			func(r *peer.Redis) { r.Signal(syscall.SIGCONT) }},
		{"restarted, empty", func(r *peer.Redis) { r.Stop(); r.Start() }, "EOF", nil},
		{"script flushed", func(r *peer.Redis) { r.Ask("SCRIPT FLUSH") }, "", nil},
		{"another type", func(r *peer.Redis) { r.Ask("SET k 1") }, "WRONGTYPE", func(r *peer.Redis) { r.Ask("DEL k") }},
		{"read only", func(r *peer.Redis) { r.Ask("REPLICAOF 127.0.0.1 1") }, "READONLY",
			func(r *peer.Redis) { r.Ask("REPLICAOF NO ONE") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := peer.StartRedis(t, peer.RedisOptions{})
			s := open(t, "redis://"+server.Address)
			if _, err := take(s, "k", 1); err != nil {
				t.Fatal(err)
			}
			c.cause(server)
			began := time.Now()
			_, err := take(s, "k", 1)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("the call took %v", took)
			}
			if c.end != nil {
				c.end(server)
			}
			for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				_, err := take(s, "k", 1)
				if err == nil {
					break
				}
				if time.Since(began) > 5*time.Second {
					t.Fatalf("not recovered: %v", err)
				}
			}
		})
	}
}
