package resolve

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// maxAliases is the maximum number of CNAME records from a name to its other records, in one
// response or in several.
const maxAliases = 16

// longestTTL is the highest TTL, RFC 2181, section 8.
const longestTTL = (1<<31 - 1) * time.Second

// A response is a response of a name server.
type response struct {
	*dns.Msg
	negative   bool          // it has the SOA record of a negative response
	unknownFor time.Duration // the TTL of a negative response, RFC 2308; 0 if it does not say
}

func newResponse(m *dns.Msg) (*response, error) {
	r := &response{Msg: m}
	for _, rr := range m.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			r.negative, r.unknownFor = true, min(seconds(soa.Hdr.Ttl), seconds(soa.Minttl))
			break
		}
	}
	if m.Rcode == dns.RcodeSuccess && len(m.Answer) == 0 && !r.negative && !m.Authoritative && !m.RecursionAvailable {
		return nil, errors.New("it refers to other name servers")
	}
	return r, nil
}

// responds reports whether a message is the response to a query. Anybody can send a packet to the
// port of a query.
func responds(m, query *dns.Msg) bool {
	if m == nil || m.Id != query.Id || !m.Response || len(m.Question) != 1 {
		return false
	}
	got, want := m.Question[0], query.Question[0]
	return got.Qtype == want.Qtype && got.Qclass == want.Qclass && strings.EqualFold(got.Name, want.Name)
}

// seconds returns a TTL. One with the highest bit is 0, RFC 2181, section 8.
func seconds(ttl uint32) time.Duration {
	if ttl > 1<<31-1 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// follow returns the records of a name, or those of the name that aliases lead to, and that
// name. The TTL is the lowest of all records on the way.
func (r *response) follow(name string) (a Answer, end string) {
	a.TTL = longestTTL
	for range maxAliases {
		alias := ""
		for _, rr := range r.Answer {
			h := rr.Header()
			if h.Class != dns.ClassINET || !strings.EqualFold(h.Name, name) ||
				h.Rrtype != dns.TypeCNAME && h.Rrtype != r.Question[0].Qtype {
				continue
			}
			a.TTL = min(a.TTL, seconds(h.Ttl))
			switch rr := rr.(type) {
			case *dns.CNAME:
				alias = rr.Target
			case *dns.SRV:
				a.Services = append(a.Services, Service{Target: strings.TrimSuffix(rr.Target, "."), Port: rr.Port,
					Priority: rr.Priority, Weight: rr.Weight})
			case *dns.A:
				a.add(rr.A)
			case *dns.AAAA:
				a.add(rr.AAAA)
			}
		}
		if alias == "" || len(a.Addrs)+len(a.Services) > 0 {
			break
		}
		name = alias
	}
	return a, name
}

func (a *Answer) add(ip []byte) {
	if addr, ok := netip.AddrFromSlice(ip); ok {
		a.Addrs = append(a.Addrs, addr.Unmap())
	}
}
