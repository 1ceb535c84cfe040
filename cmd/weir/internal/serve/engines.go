package serve

import (
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/natskv"
	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/limit/redisstore"
)

// engines are the clients of other servers that the command has.
var engines = front.Engines{
	Servers: natskv.Follow,
	Limits:  func(url string) (lease.Store, error) { return redisstore.Open(url) },
	Traces:  openTraces,
}
