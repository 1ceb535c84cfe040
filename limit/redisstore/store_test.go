package redisstore_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
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

// take takes tokens from a bucket of 10 tokens per second, at most 10, for a new lease.
func take(s lease.Store, key string, want int64) (taken int64, err error) {
	batch := []lease.Exchange{{Key: key, Every: 100 * time.Millisecond, Fill: time.Second, Want: want,
		Replica: "a", Lease: rand.Int64N(1 << 50), Replicas: 1}}
	if err := s.Exchange(context.Background(), batch); err != nil {
		return 0, err
	}
	return batch[0].Taken, batch[0].Err
}

func TestExchangeSettlesTokens(t *testing.T) {
	s := open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address)
	for i, c := range []struct {
		replica                   string
		known, used, want         int64 // known are the tokens that the replica knows to have
		taken, remaining, overall int64
	}{
		{replica: "a", known: 0, used: 0, want: 4, taken: 4, remaining: 6, overall: 4},
		{replica: "a", known: 0, used: 0, want: 4, taken: 4, remaining: 6, overall: 4}, // repeated
		{replica: "a", known: 0, used: 6, want: 0, taken: 6, remaining: 4, overall: 6},
		{replica: "b", known: 0, used: 1, want: 9, taken: 5 - 1, remaining: 0, overall: 10},
		{replica: "b", known: 4, used: 9, want: 1, taken: 9, remaining: 0, overall: 15},
		{replica: "a", known: 6, used: 3, want: 0, taken: 3, remaining: 0, overall: 12},
		{replica: "a", known: 3, used: -96, want: 0, taken: -96, remaining: 10, overall: -87},
		{replica: "c", known: 7, used: 7, want: 1, taken: 8, remaining: 9, overall: -86}, // forgotten by the store
	} {
		batch := []lease.Exchange{{Key: "k", Every: time.Minute, Fill: 10 * time.Minute, Replica: c.replica, Lease: 1,
			Replicas: 3, Taken: c.known, Used: c.used, Want: c.want}}
		if err := s.Exchange(t.Context(), batch); err != nil || batch[0].Err != nil {
			t.Fatal(err, batch[0].Err)
		}
		if x := batch[0]; x.Taken != c.taken || x.Remaining != c.remaining || x.Total != c.overall {
			t.Errorf("step %d: taken %d, remaining %d, total %d; want %d, %d, %d",
				i, x.Taken, x.Remaining, x.Total, c.taken, c.remaining, c.overall)
		}
	}
}

// TestShareIsGivenToOneReplica gives shares to replicas. A share that a replica may still have is not given to another
// one.
func TestShareIsGivenToOneReplica(t *testing.T) {
	for name, s := range map[string]lease.Store{
		"redis": open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), "memory": new(leasetest.Store),
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range []struct {
				replica             string
				weight, share, left float64
				want                float64
			}{
				{replica: "a", weight: 30, want: 0.75},                        // half of the rate, and its part of the other half
				{replica: "b", weight: 30, want: 0.25},                        // the rest
				{replica: "a", weight: 30, share: 0.75, want: 0.5},            // the response may be lost
				{replica: "b", weight: 30, share: 0.25, want: 0.25},           // so b does not have more yet
				{replica: "a", weight: 30, share: 0.5, want: 0.5},             // a has had the response
				{replica: "b", weight: 30, share: 0.25, want: 0.5},            // and b has more
				{replica: "a", weight: 0, share: 0, want: 0},                  // a gives its share up
				{replica: "b", weight: 30, share: 0.5, want: 0.75},            // a replica without a share has a part
				{replica: "b", weight: 30, share: 0.75, left: 0.5, want: 0.5}, // or is absent
			} {
				batch := []lease.Exchange{{Key: "k", Every: time.Minute, Fill: 10 * time.Minute, Replica: c.replica, Lease: 1,
					Weight: c.weight, Share: c.share, Replicas: 2, Least: 0.25, Left: c.left}}
				if err := s.Exchange(t.Context(), batch); err != nil || batch[0].Err != nil {
					t.Fatal(err, batch[0].Err)
				}
				if got := batch[0].Share; math.Abs(got-c.want) > 1e-6 {
					t.Errorf("step %d: share %v, want %v", i, got, c.want)
				}
			}
		})
	}
}

// TestShareAccruesUntilTheNextExchange gives a replica a share, for which the store takes tokens until the replica
// exchanges again: as many as the replica may have used without the store.
func TestShareAccruesUntilTheNextExchange(t *testing.T) {
	for name, s := range map[string]lease.Store{
		"redis": open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), "memory": new(leasetest.Store),
	} {
		t.Run(name, func(t *testing.T) {
			exchange := func(x lease.Exchange) lease.Exchange {
				t.Helper()
				x.Key, x.Every, x.Fill, x.Lease, x.Replicas, x.Least = "k", time.Millisecond, time.Hour, 1, 1, 1
				batch := []lease.Exchange{x}
				if err := s.Exchange(t.Context(), batch); err != nil || batch[0].Err != nil {
					t.Fatal(err, batch[0].Err)
				}
				return batch[0]
			}
			first := exchange(lease.Exchange{Replica: "a", Used: 1000, Weight: 1})
			time.Sleep(50 * time.Millisecond)
			other := exchange(lease.Exchange{Replica: "b"})
			if other.Remaining > first.Remaining {
				t.Errorf("%d tokens left after %d: the share of the whole rate was not taken", other.Remaining, first.Remaining)
			}
			x := exchange(lease.Exchange{Replica: "a", Used: 1000, Want: 1 << 40, Weight: 1, Share: 1})
			if x.Taken < 1050 {
				t.Errorf("%d tokens, want at least 1050", x.Taken)
			}
			if x = exchange(lease.Exchange{Replica: "a", Used: 1010, Share: 1}); x.Taken != 1010 {
				t.Errorf("%d tokens, want those that were used", x.Taken)
			}
		})
	}
}

// TestExchangeAgreesWithModel compares random exchanges with those of the store in memory.
func TestExchangeAgreesWithModel(t *testing.T) {
	s, model := open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), new(leasetest.Store)
	type owner struct {
		key     string
		replica int
	}
	taken, shares := make(map[owner]int64), make(map[owner]float64)
	for range 500 {
		var got []lease.Exchange
		var owners []owner
		for range 1 + rand.IntN(5) {
			o := owner{fmt.Sprint("k", rand.IntN(10)), rand.IntN(3)}
			x := lease.Exchange{
				Key: o.key, Every: time.Hour, Fill: 100 * time.Hour, // no token returns meanwhile
				Replica: fmt.Sprint(o.replica), Lease: 1, Taken: taken[o], Used: taken[o] + rand.Int64N(20) - 12, Want: rand.Int64N(12),
				Share: shares[o], Replicas: 4, Least: 0.125, Left: 0.125 * float64(rand.IntN(2)),
			}
			if rand.IntN(3) > 0 {
				x.Weight = float64(rand.IntN(100))
			}
			got, owners = append(got, x), append(owners, o)
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
			near := (x.Reset-w.Reset).Abs() < time.Minute && (x.Retry-w.Retry).Abs() < time.Minute &&
				math.Abs(x.Share-w.Share) < 1e-6
			for _, n := range []int64{x.Taken - w.Taken, x.Remaining - w.Remaining, x.Total - w.Total} {
				near = near && -1 <= n && n <= 1 // a part of a token is rounded
			}
			if x.Err != nil || !near {
				t.Fatalf("%+v\nwant %+v", x, w)
			}
			if rand.IntN(10) > 0 { // otherwise the response is lost
				taken[owners[i]], shares[owners[i]] = x.Taken, x.Share
			}
		}
	}
}

func TestHoldDividesTheSlots(t *testing.T) {
	for name, s := range map[string]lease.Store{
		"redis": open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), "memory": new(leasetest.Store),
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range []struct {
				replica               string
				used, want, had, gets int
			}{
				{"a", 0, 2, 0, 10}, // by itself
				{"b", 0, 2, 0, 1},  // a has all, and gives back with its next call
				{"a", 0, 2, 10, 5}, // half of the rest for each
				{"b", 0, 2, 1, 1},  // the response to a may be lost
				{"a", 0, 2, 5, 5},
				{"b", 0, 2, 1, 5},
				{"a", 5, 9, 5, 5}, // more wanted than there are
				{"b", 1, 9, 5, 5},
				{"a", 5, 1, 5, 1}, // ends five requests, and gets no others meanwhile
				{"b", 1, 9, 5, 5}, // a still uses five
				{"a", 0, 1, 1, 1},
				{"b", 5, 9, 5, 9},
				{"a", 0, 0, 1, 0}, // leaves
				{"b", 9, 9, 9, 10},
			} {
				h := lease.Hold{Key: "limit", Replica: c.replica, Max: 10, Used: c.used, Want: c.want, TTL: time.Minute,
					Granted: c.had}
				if err := s.Hold(t.Context(), &h); err != nil {
					t.Fatal(err)
				}
				if h.Granted != c.gets {
					t.Errorf("step %d: %s gets %d, want %d", i, c.replica, h.Granted, c.gets)
				}
			}
		})
	}
}

func TestJoinCountsReplicas(t *testing.T) {
	for name, s := range map[string]lease.Store{
		"redis": open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address), "memory": new(leasetest.Store),
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range []struct {
				j                      lease.Join
				replicas, absent, gone int
			}{
				{lease.Join{Replica: "a"}, 1, 0, 0},
				{lease.Join{Replica: "b", Silent: 10 * time.Second}, 2, 0, 0}, // no response reaches b
				{lease.Join{Replica: "a"}, 2, 1, 0},
				{lease.Join{Replica: "b", Silent: 2 * time.Minute}, 2, 0, 0},
				{lease.Join{Replica: "a"}, 2, 1, 1},
				{lease.Join{Replica: "c"}, 2, 0, 0}, // replaces b
				{lease.Join{Replica: "d"}, 3, 0, 0},
				{lease.Join{Replica: "a", Leave: true}, 0, 0, 0},
				{lease.Join{Replica: "c"}, 2, 0, 0},
				{lease.Join{Replica: "d", Silent: 59 * time.Minute}, 2, 0, 0},
				{lease.Join{Replica: "c"}, 2, 1, 1},
				{lease.Join{Replica: "d", Silent: 2 * time.Hour}, 1, 0, 0}, // d is forgotten
			} {
				c.j.Key = "fleet"
				if err := s.Join(t.Context(), &c.j); err != nil {
					t.Fatal(err)
				}
				if c.j.Replicas != c.replicas || c.j.Absent != c.absent || c.j.Gone != c.gone {
					t.Errorf("step %d: %d replicas, %d absent, %d gone; want %d, %d, %d", i, c.j.Replicas, c.j.Absent, c.j.Gone,
						c.replicas, c.absent, c.gone)
				}
			}
		})
	}
}

func TestTLSChecksBothSides(t *testing.T) {
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

func TestWrongPasswordIsAnError(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{Password: "right"})
	for user, fails := range map[string]string{":right@": "", ":wrong@": "WRONGPASS", "": "NOAUTH"} {
		_, err := take(open(t, "redis://"+user+server.Address), "k", 1)
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
			t.Errorf("%s: error %v, want %q", user, err, fails)
		}
	}
}

// TestDocumentedPermissionsSuffice uses all scripts as the user of docs/limits.md, which has the fewest rights.
func TestDocumentedPermissionsSuffice(t *testing.T) {
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
	if err := s.Join(t.Context(), &lease.Join{Key: "weir:shop:replicas", Replica: "a"}); err != nil {
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

func TestEachDatabaseHasItsOwnBuckets(t *testing.T) {
	server := peer.StartRedis(t, peer.RedisOptions{})
	for _, url := range []string{"redis://" + server.Address, "redis://" + server.Address + "/3"} {
		if n, err := take(open(t, url), "k", 10); n != 10 || err != nil {
			t.Errorf("%s: took %d (%v), want a full bucket in each database", url, n, err)
		}
	}
}

func TestClusterServesAllBuckets(t *testing.T) {
	nodes := peer.StartRedisCluster(t, 3)
	s := open(t, "redis://"+nodes[0].Address+"?timeout=10s") // names the others
	var batch []lease.Exchange
	for i := range 60 {
		batch = append(batch, lease.Exchange{Key: fmt.Sprint("k", i), Every: time.Minute, Fill: time.Hour, Want: 2,
			Replica: "a", Replicas: 1})
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

// TestConcurrentCallsGetTheirOwnReplies takes tokens in many goroutines, of which each gets its own replies.
func TestConcurrentCallsGetTheirOwnReplies(t *testing.T) {
	s := open(t, "redis://"+peer.StartRedis(t, peer.RedisOptions{}).Address+"?timeout=1m")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 50 {
				key, n := fmt.Sprint("k", i, "/", j), 1+rand.Int64N(10)
				if got, err := take(s, key, n); got != n || err != nil {
					t.Errorf("took %d of %d, %v", got, n, err)
				}
			}
		})
	}
	all.Wait()
}

// TestBucketIsFoundWhileItsSlotMoves moves the slot of a bucket to another node of a cluster. While it moves, the old
// node has the keys that were not moved yet, and the new one the others.
func TestBucketIsFoundWhileItsSlotMoves(t *testing.T) {
	nodes := peer.StartRedisCluster(t, 3)
	s := open(t, "redis://"+nodes[0].Address+","+nodes[1].Address+"?timeout=10s")
	if n, err := take(s, "{slot}a", 4); n != 4 || err != nil {
		t.Fatalf("took %d, %v", n, err)
	}
	for _, key := range []string{"123456789", "{slot}a", "a{slot}b{c}", "a{}{b}", "a{{b}}c", "{", "a{b", "a}b{c}", "\u00e9{\u00e9}"} {
		if got, want := fmt.Sprintf(":%d\r\n", redisstore.Slot(key)), nodes[0].Ask("CLUSTER KEYSLOT "+key); got != want {
			t.Errorf("slot %q of %s, want %q", got, key, want)
		}
	}
	number := strconv.Itoa(int(redisstore.Slot("slot")))
	from := slices.IndexFunc(nodes, func(r *peer.Redis) bool { return r.Ask("CLUSTER COUNTKEYSINSLOT "+number) == ":1\r\n" })
	if from < 0 {
		t.Fatal("no node has the bucket")
	}
	to := (from + 1) % len(nodes)
	id := func(i int) string {
		_, id, _ := strings.Cut(strings.TrimSpace(nodes[i].Ask("CLUSTER MYID")), "\r\n")
		return id
	}
	order := func(i int, command string) {
		t.Helper()
		if reply := nodes[i].Ask(command); reply != "+OK\r\n" {
			t.Fatalf("%s: %q", command, reply)
		}
	}
	check := func(key string, used int64) {
		t.Helper()
		for range 2 { // by the redirection, and by the store's memory of it
			if n, err := take(s, key, 10); n > 10-used || err != nil {
				t.Errorf("took %d from %s after %d of 10, %v", n, key, used, err)
			}
			used = 9
		}
	}
	order(to, "CLUSTER SETSLOT "+number+" IMPORTING "+id(from))
	order(from, "CLUSTER SETSLOT "+number+" MIGRATING "+id(to))
	check("{slot}a", 4)
	check("{slot}b", 0)
	if n := nodes[to].Ask("CLUSTER COUNTKEYSINSLOT " + number); n != ":1\r\n" {
		t.Errorf("%q buckets on the new node, want the new one", n)
	}
	host, port, _ := net.SplitHostPort(nodes[to].Address)
	order(from, "MIGRATE "+host+" "+port+" {slot}a 0 5000")
	order(to, "CLUSTER SETSLOT "+number+" NODE "+id(to))
	order(from, "CLUSTER SETSLOT "+number+" NODE "+id(to))
	check("{slot}a", 9)
	check("{slot}b", 9)
}

// TestClockSetBackBlocksNoReplica moves the times that the server has stored an hour ahead, as if its clock had
// been set back.
func TestClockSetBackBlocksNoReplica(t *testing.T) {
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
		j := lease.Join{Key: "fleet", Replica: replica}
		if err := s.Join(t.Context(), &j); err != nil {
			t.Fatal(err)
		}
		return j.Replicas
	}
	hold("dead")
	join("dead")
	if n, err := take(s, "k", 10); n != 10 || err != nil {
		t.Fatalf("took %d, %v", n, err)
	}
	const move = "local f, a, t, s, w, h, n = struct.unpack('>ddddddd', redis.call('HGET', 'k', 'bucket')) " +
		"local ahead = 3600e6 redis.call('HSET', 'k', 'bucket', " +
		"struct.pack('>ddddddd', f + ahead, a + ahead, t, s, w, h, n + ahead)) redis.call('ZINCRBY', '{limit}:ends', 3600e6, 'dead') " +
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

// TestEvictedStateKeepsSlotsUsable removes a part of the state of slots, as a server with too little memory does.
func TestEvictedStateKeepsSlotsUsable(t *testing.T) {
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

// TestFailoverIsFollowed makes the server a replica of another one, to which its name leads from then on.
// The connections to the old one stay open.
func TestFailoverIsFollowed(t *testing.T) {
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
	testkit.AwaitNil(t, "a connection to the new primary", func() error {
		_, err := take(s, "k", 1)
		if err != nil && !strings.Contains(err.Error(), "READONLY") { // some connections may lead to the new primary at once
			t.Errorf("error %v of a server that is not the primary any more", err)
		}
		return err
	})
	if reply := next.Ask("EXISTS k"); reply != ":1\r\n" {
		t.Errorf("the new primary has no bucket: %q", reply)
	}
}

// TestRedirectionsAreFollowed has the addresses of redirections in each form that servers write.
func TestRedirectionsAreFollowed(t *testing.T) {
	for text, want := range map[string]string{
		"866 10.0.0.2:6379": "10.0.0.2:6379", "866 redis-2:6379": "redis-2:6379", "866 fd00::2:6379": "[fd00::2]:6379",
		"866 [fd00::2]:6379": "[fd00::2]:6379", "866 :6379": "10.0.0.1:6379", "866 ?:6379": "10.0.0.1:6379",
	} {
		if got := redisstore.Redirection(text, "10.0.0.1:7000"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestOlderReplicaIsLeft has a server that responds to a script as a replica of Redis up to version 6 does. The next call
// makes a new connection.
func TestOlderReplicaIsLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var connections atomic.Int64
	go func() { // ends with l
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer c.Close()
				for b := make([]byte, 4096); ; {
					if _, err := c.Read(b); err != nil {
						return
					}
					io.WriteString(c, "-ERR Error running script (call to f_1): @user_script:1: @user_script: 1: "+
						"-READONLY You can't write against a read only replica.\r\n")
				}
			}()
		}
	}()
	s := open(t, "redis://"+l.Addr().String())
	for range 2 {
		if _, err := take(s, "k", 1); err == nil {
			t.Error("no error of a replica")
		}
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections, want a new one for the second call", n)
	}
}

// TestStoreRecoversFromFaults causes faults of a server, and checks the error and the recovery.
func TestStoreRecoversFromFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause func(*peer.Redis)
		fails string // matches the error; "" for none
		end   func(*peer.Redis)
	}{
		{"killed", (*peer.Redis).Stop, "EOF|reset|refused", (*peer.Redis).Start},
		{"stopped", func(r *peer.Redis) { r.Signal(syscall.SIGSTOP) }, "deadline|timeout",
			func(r *peer.Redis) { r.Signal(syscall.SIGCONT) }},
		{"restarted, empty", func(r *peer.Redis) { r.Stop(); r.Start() }, "EOF|reset|refused", nil},
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
			_, err := take(s, "k", 1)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !regexp.MustCompile(c.fails).MatchString(err.Error())) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			if c.end != nil {
				c.end(server)
			}
			testkit.AwaitNil(t, "the recovery", func() error {
				_, err := take(s, "k", 1)
				return err
			})
		})
	}
}
