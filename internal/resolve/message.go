package resolve

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// errForeign means that a message is not the answer to the question. Anybody can send a packet
// to the port of a question, so that the real answer may follow.
var errForeign = errors.New("the answer belongs to another question")

var errGarbage = errors.New("the answer is malformed")

// maxAliases is the maximum number of CNAME records from a name to its other records, in one
// answer or in several.
const maxAliases = 16

// longestTTL is the highest TTL, RFC 2181, section 8.
const longestTTL = (1<<31 - 1) * time.Second

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

// parse parses the answer to a question.
func parse(message []byte, id uint16, q dnsmessage.Question) (r *response, truncated bool, err error) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil || header.ID != id || !header.Response {
		return nil, false, errForeign
	}
	questions, err := p.AllQuestions()
	if err != nil || len(questions) != 1 || questions[0].Type != q.Type || questions[0].Class != q.Class ||
		!strings.EqualFold(questions[0].Name.String(), q.Name.String()) {
		return nil, false, errForeign
	}
	r = &response{rcode: header.RCode}
	if header.Truncated {
		return r, true, nil
	}
	if err := r.parseRecords(&p, q.Type); err != nil {
		return nil, false, errGarbage
	}
	if r.rcode == dnsmessage.RCodeSuccess && len(r.records) == 0 && !r.negative && !header.Authoritative &&
		!header.RecursionAvailable {
		return nil, false, errors.New("it refers to other name servers")
	}
	return r, false, nil
}

// parseRecords parses the answer section, and the SOA record of the next one.
func (r *response) parseRecords(p *dnsmessage.Parser, kind dnsmessage.Type) error {
	for {
		h, err := p.AnswerHeader()
		if err == dnsmessage.ErrSectionDone {
			break
		}
		if err != nil {
			return err
		}
		rec := record{owner: h.Name.String(), ttl: seconds(h.TTL)}
		switch {
		case h.Class != dnsmessage.ClassINET || h.Type != kind && h.Type != dnsmessage.TypeCNAME:
			if err := p.SkipAnswer(); err != nil {
				return err
			}
			continue
		case h.Type == dnsmessage.TypeCNAME:
			err = rec.setAlias(p)
		case h.Type == dnsmessage.TypeSRV:
			err = rec.setService(p)
		case h.Type == dnsmessage.TypeA:
			var a dnsmessage.AResource
			a, err = p.AResource()
			rec.answer.Addrs = []netip.Addr{netip.AddrFrom4(a.A)}
		default:
			var a dnsmessage.AAAAResource
			a, err = p.AAAAResource()
			rec.answer.Addrs = []netip.Addr{netip.AddrFrom16(a.AAAA).Unmap()}
		}
		if err != nil {
			return err
		}
		r.records = append(r.records, rec)
	}
	for {
		h, err := p.AuthorityHeader()
		if err != nil {
			return nil // no SOA record, or one that is of no use
		}
		if h.Type != dnsmessage.TypeSOA {
			if p.SkipAuthority() != nil {
				return nil
			}
			continue
		}
		soa, err := p.SOAResource()
		if err == nil {
			r.negative, r.unknownFor = true, min(seconds(h.TTL), seconds(soa.MinTTL))
		}
		return nil
	}
}

func (rec *record) setAlias(p *dnsmessage.Parser) error {
	c, err := p.CNAMEResource()
	rec.alias = c.CNAME.String()
	return err
}

func (rec *record) setService(p *dnsmessage.Parser) error {
	s, err := p.SRVResource()
	rec.answer.Services = []Service{{
		Target: strings.TrimSuffix(s.Target.String(), "."), Port: s.Port, Priority: s.Priority, Weight: s.Weight,
	}}
	return err
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
