package front

import (
	"fmt"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
)

// An accessRule is a stage that admits requests by the address of their client.
type accessRule struct {
	refused prometheus.Counter
	deny    networks
	allow   networks // nil admits all that are not in deny
}

// newAccessRule returns the rule of a route, or of all requests.
func newAccessRule(a *config.Access, m *metrics, route string) *accessRule {
	return &accessRule{
		refused: m.accessRefusal(refusedByAccess, route),
		deny:    newNetworks(a.Deny), allow: newNetworks(a.Allow),
	}
}

// admits reports whether the rule admits a client.
func (r *accessRule) admits(client netip.Addr) bool {
	client = client.Unmap().WithZone("")
	return !r.deny.contain(client) && (r.allow == nil || r.allow.contain(client))
}

func (r *accessRule) Apply(x *stage.Exchange) (responded bool) {
	if r.admits(x.ClientAddr) {
		return false
	}
	r.refused.Inc()
	x.Refuse(403, "access: the client is not in an allowed network")
	return true
}

// Explain implements stage.Explainer.
func (r *accessRule) Explain(x *stage.Exchange) (steps []string, ends bool) {
	if r.admits(x.ClientAddr) {
		return []string{fmt.Sprintf("admits the client %s", x.ClientAddr)}, false
	}
	return []string{fmt.Sprintf("refuses the client %s with 403", x.ClientAddr)}, true
}
