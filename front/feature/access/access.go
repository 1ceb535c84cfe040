// Package access admits requests by the address of their client: the key access of all requests and of
// routes.
package access

import (
	"fmt"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/networks"
	"github.com/weirhq/weir/front/stage"
)

// A Rule is a stage that admits requests by the address of their client, with one or more configurations.
type Rule struct {
	refused prometheus.Counter
	lists   []lists
}

// lists are the networks of a configuration.
type lists struct {
	deny  networks.Set
	allow networks.Set // nil admits all that are not in deny
}

// Stage returns the stage of a route, or nil.
func Stage(all []*Config, r *stage.Route) (stage.Stage, error) {
	if len(all) == 0 {
		return nil, nil
	}
	return New(all, r.Door, r.Label), nil
}

// New returns the rule of a route, or of all requests, with the label of its metric. It admits the clients that each of
// the configurations admits.
func New(all []*Config, d *stage.Door, label string) *Rule {
	r := &Rule{refused: d.Refused("access", label)}
	for _, c := range all {
		r.lists = append(r.lists, lists{deny: networks.New(c.Deny), allow: networks.New(c.Allow)})
	}
	return r
}

// Admits reports whether the rule admits a client.
func (r *Rule) Admits(client netip.Addr) bool {
	client = client.Unmap().WithZone("")
	for i := range r.lists {
		if l := &r.lists[i]; l.deny.Contains(client) || l.allow != nil && !l.allow.Contains(client) {
			return false
		}
	}
	return true
}

func (r *Rule) Apply(x *stage.Exchange) (responded bool) {
	if r.Admits(x.ClientAddr) {
		return false
	}
	r.refused.Inc()
	x.Refuse(403, "access: the network of the client is denied, or not allowed")
	return true
}

// Explain implements stage.Explainer.
func (r *Rule) Explain(x *stage.Exchange) (steps []string, ends bool) {
	if r.Admits(x.ClientAddr) {
		return []string{fmt.Sprintf("admits the client %s", x.ClientAddr)}, false
	}
	return []string{fmt.Sprintf("refuses the client %s with 403", x.ClientAddr)}, true
}
