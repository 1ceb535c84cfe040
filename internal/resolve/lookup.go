package resolve

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// lookup returns the records of one type. If an answer contains only an alias, it asks again for
// the name that the alias leads to.
func (c *client) lookup(ctx context.Context, name string, kind dnsmessage.Type) (Answer, error) {
	ttl := longestTTL
	asked := strings.TrimSuffix(name, ".")
	for range maxAliases {
		owner, err := dnsmessage.NewName(name)
		if err != nil {
			return Answer{}, fmt.Errorf("%s: %w", asked, err)
		}
		r, err := c.ask(ctx, dnsmessage.Question{Name: owner, Type: kind, Class: dnsmessage.ClassINET})
		if err != nil {
			return Answer{}, fmt.Errorf("%s: %w", asked, err)
		}
		a, end := r.follow(name)
		ttl = min(ttl, a.TTL)
		switch {
		case len(a.Addrs)+len(a.Services) > 0:
			a.TTL = ttl
			return a, nil
		case r.rcode == dnsmessage.RCodeNameError:
			return Answer{TTL: r.unknownFor}, fmt.Errorf("%s: %w", asked, ErrNotFound)
		case r.negative || end == name:
			return Answer{TTL: r.unknownFor}, fmt.Errorf("%s: no record of type %s: %w", asked, kind.String()[4:], ErrNotFound)
		}
		name = end
	}
	return Answer{}, fmt.Errorf("%s: more than %d aliases", asked, maxAliases)
}
