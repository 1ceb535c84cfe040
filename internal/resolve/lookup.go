package resolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// lookup returns the records of one type. If a response contains only an alias, it asks again for
// the name that the alias leads to.
func (c *client) lookup(ctx context.Context, name string, kind uint16) (Answer, error) {
	ttl := longestTTL
	asked := strings.TrimSuffix(name, ".")
	for range maxAliases {
		query := new(dns.Msg).SetQuestion(name, kind).SetEdns0(maxUDP, false)
		r, err := c.ask(ctx, query)
		if err != nil {
			return Answer{}, fmt.Errorf("%s: %w", asked, err)
		}
		a, end := r.follow(name)
		ttl = min(ttl, a.TTL)
		switch {
		case len(a.Addrs)+len(a.Services) > 0:
			a.TTL = ttl
			return a, nil
		case r.Rcode == dns.RcodeNameError:
			return Answer{TTL: r.unknownFor}, fmt.Errorf("%s: %w", asked, ErrNotFound)
		case r.negative || end == name:
			return Answer{TTL: r.unknownFor}, fmt.Errorf("%s: no record of type %s: %w", asked, dns.TypeToString[kind], ErrNotFound)
		}
		name = end
	}
	return Answer{}, fmt.Errorf("%s: more than %d aliases", asked, maxAliases)
}
