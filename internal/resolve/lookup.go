package resolve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// maxAliases is the maximum number of CNAME records from a name to its other records, in one
// answer or in several.
const maxAliases = 16

// longestTTL is the highest TTL, RFC 2181, section 8.
const longestTTL = (1<<31 - 1) * time.Second

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

// A response is the parsed answer of a name server.
type response struct {
	rcode      dnsmessage.RCode
	records    []record
	negative   bool          // it has the SOA record of a negative answer
	unknownFor time.Duration // the TTL of a negative answer, RFC 2308; 0 if it does not say
}

// A record is a record of the answer section: an alias, or of the type that was asked for.
type record struct {
	owner  string
	ttl    time.Duration
	alias  string // the target of a CNAME
	answer Answer // of an address or a service
}

// follow returns the records of a name, or those of the name that aliases lead to, and that
// name. The TTL is the lowest of all records on the way.
func (r *response) follow(name string) (a Answer, end string) {
	a.TTL = longestTTL
	for range maxAliases {
		alias := ""
		for i := range r.records {
			rec := &r.records[i]
			if !strings.EqualFold(rec.owner, name) {
				continue
			}
			a.TTL = min(a.TTL, rec.ttl)
			a.Addrs = append(a.Addrs, rec.answer.Addrs...)
			a.Services = append(a.Services, rec.answer.Services...)
			if rec.alias != "" {
				alias = rec.alias
			}
		}
		if alias == "" || len(a.Addrs)+len(a.Services) > 0 {
			break
		}
		name = alias
	}
	return a, name
}
