package scalar

import (
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

// QueueKeys returns the keys of a queue of requests at a path: the mapping, its length and the maximum waiting time.
func QueueKeys[T any](path string, length func(T) *int, wait func(T) *time.Duration) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Short: "length", Read: (*yamlfile.Reader[T]).Fields},
		{Path: path + ".length", Doc: "the maximum number of requests that wait",
			Required: "set how many requests may wait, as in: queue: {length: 50, wait: 2s}",
			Read:     yamlfile.One(Some, length)},
		{Path: path + ".wait", Doc: "the maximum waiting time of a request", Zero: time.Second,
			Read: yamlfile.One(Timeout, wait)},
	}
}
