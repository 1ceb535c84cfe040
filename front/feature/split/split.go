// Package split forwards each request of a route to one of several upstreams: the keys split and sticky_split.
package split

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/internal/rotation"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/stickycookie"
)

// A split forwards each request to one of several upstreams: to one whose conditions hold, to
// that of its client, or to one chosen by weight.
type split struct {
	forward     func(x *stage.Exchange, to *stage.Upstream)
	shares      []share
	conditional bool   // there is a share with conditions
	total       uint64 // the sum of the weights
	rotation    rotation.Rotation
	cookie      string // the name of the cookie with the upstream of the client; "" without one
	trust       proxying.Trust
}

// A share is an upstream of a split.
type share struct {
	to     *stage.Upstream
	when   *condition.Set // of the requests that it gets in any case; nil for none
	upTo   uint64         // the sum of the weights of this share and those before it
	cookie stickycookie.Cookie
}

// Action returns the action of a route, or nil.
func Action(shares []Share, sticky *Sticky, r *stage.Route) (stage.Action, error) {
	if shares == nil {
		return nil, nil
	}
	s := &split{forward: r.Forward}
	for _, entry := range shares {
		to, err := r.Upstream(entry.To)
		if err != nil {
			return nil, err
		}
		s.total += uint64(max(entry.Weight, 0))
		one := share{to: to, when: entry.When.OrNil(), upTo: s.total}
		s.conditional = s.conditional || one.when != nil
		if sticky != nil {
			one.cookie = newStickyCookie(sticky, to.Name)
		}
		s.shares = append(s.shares, one)
	}
	if s.total == 0 {
		return nil, fmt.Errorf("all weights of the split are 0")
	}
	if sticky != nil {
		s.cookie, s.trust = sticky.Cookie, s.shares[0].to.Proxy.Trust
	}
	s.rotation.Start(rotation.GoldenRatio)
	return s, nil
}

func (s *split) Respond(x *stage.Exchange) {
	if s.conditional {
		if chosen := s.byCondition(x); chosen != nil {
			s.forward(x, chosen.to)
			return
		}
	}
	if s.cookie == "" {
		s.forward(x, s.byWeight().to)
		return
	}
	chosen := s.byCookie(x.Header)
	if chosen == nil {
		chosen = s.byWeight()
		x.SetCookie = chosen.cookie.SetCookie(s.trust.Scheme(x.Peer, x.Header, x.Scheme))
	}
	s.forward(x, chosen.to)
}

// byWeight chooses a share for a request without one.
func (s *split) byWeight() *share {
	number := s.rotation.Next(s.total)
	for i := range s.shares {
		if number < s.shares[i].upTo {
			return &s.shares[i]
		}
	}
	panic("the number is less than the total")
}

// byCondition returns the first share with conditions that hold for a request, or nil.
func (s *split) byCondition(x *stage.Exchange) *share {
	for i := range s.shares {
		if when := s.shares[i].when; when != nil && when.Hold(x) {
			return &s.shares[i]
		}
	}
	return nil
}

// byCookie returns the share that the cookie of a request names, or nil if there is no
// cookie or no such share.
func (s *split) byCookie(header []stage.Field) (found *share) {
	proxying.FindCookie(header, func(name, value string) bool {
		if name == s.cookie {
			found = s.valued(value)
		}
		return found != nil
	})
	return found
}

// valued returns the share with the given value of the cookie, or nil.
func (s *split) valued(value string) *share {
	for i := range s.shares {
		if s.shares[i].cookie.Is(value) {
			return &s.shares[i]
		}
	}
	return nil
}

// newStickyCookie returns the cookie of an upstream. Its value is a hash of the upstream's
// name. It therefore shows neither name nor address, and is the same after a reload, after a
// restart and at other front doors.
func newStickyCookie(c *Sticky, upstream string) stickycookie.Cookie {
	sum := sha256.Sum256([]byte(upstream))
	return stickycookie.New(c.Cookie, hex.EncodeToString(sum[:8]), c.MaxAge)
}

// Explain implements stage.Explainer.
func (s *split) Explain(x *stage.Exchange) (steps []string, ends bool) {
	if chosen := s.byCondition(x); chosen != nil {
		return []string{"forwards, because of " + chosen.when.Names() + ", to the " + chosen.to.About}, true
	}
	if s.cookie != "" {
		if chosen := s.byCookie(x.Header); chosen != nil {
			return []string{"forwards, because of the cookie " + s.cookie + ", to the " + chosen.to.About}, true
		}
	}
	last := uint64(0)
	for _, share := range s.shares {
		if share.upTo == last {
			continue // without a weight
		}
		percent := float64(share.upTo-last) / float64(s.total) * 100
		last = share.upTo
		steps = append(steps, fmt.Sprintf("forwards %.4g %% of the requests to the %s", percent, share.to.About))
	}
	if s.cookie != "" {
		steps = append(steps, "sets the cookie "+s.cookie+", which keeps the client at its upstream")
	}
	return steps, true
}
