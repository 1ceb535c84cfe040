package lease_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/lease/leasetest"
)

// A replica admits requests of a client with the tokens that it leases.
func Example() {
	leaser := lease.New(new(leasetest.Store), lease.Options{Fleet: "shop"}) // or redisstore.Open(url)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { leaser.Run(ctx) })

	rate := leaser.Rate("api", limit.RateOptions{Every: time.Minute, Burst: 2, Keys: 1000})
	client := limit.KeyOf(netip.MustParseAddr("192.0.2.1"))
	for range 3 {
		d := rate.Allow(time.Now(), client)
		fmt.Println(d.OK, d.Remaining)
	}

	cancel() // returns the tokens that were not used
	running.Wait()
	// Output:
	// true 1
	// true 0
	// false 0
}
