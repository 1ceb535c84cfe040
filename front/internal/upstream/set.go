package upstream

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/proxying"
)

// A Set has the upstreams of a configuration, in its order.
type Set []*Upstream

// NewSet returns the upstreams of a configuration, with the servers that are known. They follow the servers of an
// earlier configuration, which may be nil.
func NewSet(cfg *config.Config, parts Parts, before Set) (set Set, err error) {
	for _, u := range cfg.Upstreams {
		up, err := newUpstream(&u, &cfg.DNS, parts, before.Named(u.Name))
		if err != nil {
			set.Close()
			return nil, err
		}
		set = append(set, up)
	}
	return set, nil
}

// Named returns the upstream with a name, or nil.
func (s Set) Named(name string) *Upstream {
	for _, up := range s {
		if up.Name() == name {
			return up
		}
	}
	return nil
}

// Adopt takes over the servers of an earlier set, with their connections and their state.
func (s Set) Adopt(before Set) {
	for _, up := range s {
		if other := before.Named(up.Name()); other != nil {
			up.Upstream.Adopt(other.Upstream)
		}
	}
}

// Forget removes the histograms of the servers of an earlier set that s does not have.
func (s Set) Forget(before Set) {
	for _, other := range before {
		var now []*proxying.Server
		if up := s.Named(other.Name()); up != nil {
			now = up.Servers()
		}
		other.metrics.forgetServers(other.Name(), other.Servers(), now)
	}
}

// Start starts to keep the upstreams up to date.
func (s Set) Start() {
	for _, up := range s {
		up.start()
	}
}

// Stop ends that. It waits for the goroutines.
func (s Set) Stop() {
	for _, up := range s {
		up.cancel() // all, before waiting for one
	}
	for _, up := range s {
		up.running.Wait()
	}
}

// Close closes the idle connections to the upstreams. Connections in use are
// closed when their exchange ends.
func (s Set) Close() {
	for _, up := range s {
		up.Close()
	}
}
