package resolve

import (
	"testing"

	"github.com/miekg/dns"
	"golang.org/x/net/dns/dnsmessage"
)

// FuzzParse compares the records of a response with those that another parser of messages finds.
func FuzzParse(f *testing.F) {
	q := dnsmessage.Question{Name: dnsmessage.MustNewName("shop.example."), Type: dnsmessage.TypeA,
		Class: dnsmessage.ClassINET}
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 60}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, Response: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
		Answers: []dnsmessage.Resource{
			{Header: header, Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("a.example.")}},
			{Header: header, Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}},
		},
	}
	seed, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:len(seed)-5])
	f.Fuzz(func(t *testing.T, message []byte) {
		m, query := new(dns.Msg), new(dns.Msg).SetQuestion("shop.example.", dns.TypeA)
		query.Id = 7
		if m.Unpack(message) != nil || !responds(m, query) {
			return
		}
		r, err := newResponse(m)
		if err != nil {
			return
		}
		var p dnsmessage.Parser
		if _, err := p.Start(message); err != nil {
			t.Fatal(err)
		}
		if err := p.SkipAllQuestions(); err != nil {
			t.Fatal(err)
		}
		answers, err := p.AllAnswers()
		if err != nil {
			return // a record of another type
		}
		addrs := map[[4]byte]bool{}
		for _, a := range answers {
			if body, ok := a.Body.(*dnsmessage.AResource); ok {
				addrs[body.A] = true
			}
		}
		a, _ := r.follow("shop.example.")
		for _, addr := range a.Addrs {
			if !addrs[addr.As4()] {
				t.Errorf("%v is not in the message", addr)
			}
		}
		if a.TTL < 0 || a.TTL > longestTTL {
			t.Errorf("TTL %v", a.TTL)
		}
	})
}
