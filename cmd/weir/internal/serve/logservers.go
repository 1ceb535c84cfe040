package serve

import "github.com/weirhq/weir/log/stream"

// logServers has the client for each scheme of the URLs in log.to. The schemes and the
// parameters of their URLs are also in package config, which checks them.
var logServers = map[string]func(url string) (stream.Destination, error){}
