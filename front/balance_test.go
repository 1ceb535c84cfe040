package front_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// TestBalanceHashKeepsKeysAtServers checks that requests with the same key reach the same server, and that the
// others do as well while one drains.
func TestBalanceHashKeepsKeysAtServers(t *testing.T) {
	t.Parallel()
	up := servers(t, "a", "b", "c")
	up.Balance, up.HashBy = upstreams.BalanceHash, "header X-User"
	d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
	client := httpClient(t)
	ask := func(user int) string {
		r, err := http.NewRequest("GET", d.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-User", fmt.Sprint("user ", user))
		_, body := do(t, client, r)
		return body
	}
	const users = 30
	before, count := map[int]string{}, map[string]int{}
	for user := range users {
		before[user] = ask(user)
		count[before[user]]++
		if again := ask(user); again != before[user] {
			t.Errorf("user %d reaches %s and %s", user, before[user], again)
		}
	}
	if len(count) != 3 {
		t.Errorf("the users are at %v", count)
	}
	d.setDraining(t, "drain", up.Servers[0].URL)
	for user := range users {
		if now := ask(user); now == "a" || now != before[user] && before[user] != "a" {
			t.Errorf("user %d was at %s and is at %s while a drains", user, before[user], now)
		}
	}
	if one, other := responders(t, d, 1), responders(t, d, 1); one != other {
		t.Error("without the field, the client does not determine the server")
	}
}

// TestBalanceAvoidsTheBusyServer occupies a server. With each of the two policies the others get
// the requests.
func TestBalanceAvoidsTheBusyServer(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{upstreams.BalanceLeastConnections, upstreams.BalanceTwoChoices} {
		t.Run(policy, func(t *testing.T) {
			blocked, release := make(chan string), make(chan bool)
			up := upstreams.Upstream{Name: "site", Balance: policy}
			for _, name := range []string{"a", "b"} {
				up.Servers = append(up.Servers,
					upstreams.Server{URL: upstream(t, func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == "/block" {
							blocked <- name
							<-release
						}
						io.WriteString(w, name)
					}).URL})
			}
			d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
			var asking sync.WaitGroup
			asking.Go(func() { get(t, httpClient(t), d.url("/block")) })
			busy := <-blocked
			inFlight := func() (n int) {
				for _, s := range d.statuses(t) {
					n += s.InFlight
				}
				return n
			}
			for range 20 {
				testkit.AwaitEqual(t, "only the first request is in flight", inFlight, 1)
				if got := responders(t, d, 1); got == busy {
					t.Errorf("a request reaches the busy server %s", busy)
				}
			}
			close(release)
			asking.Wait()
		})
	}
}
