package front

import (
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

var readDrainTimeout = yamlfile.One(yamlfile.Duration, func(f filling) *time.Duration { return &f.config.Drain.Timeout })

// readDrain reads a mapping, or a duration, which is the timeout.
func readDrain(r *fileReader, p place, n *yamlfile.Node) {
	if n.Kind == yamlfile.Single {
		readDrainTimeout(r, p, n)
		return
	}
	r.Fields(p, n)
}
