// Package resolvetest is a name server for tests. It answers over UDP and TCP on a port of the
// loopback interface.
package resolvetest

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// A Fault changes the answers of a [Server].
type Fault int

// The faults.
const (
	None       Fault = iota
	ServFail         // answers with SERVFAIL
	Silent           // does not answer
	Garbage          // answers with bytes that are no message
	Malformed        // answers with a message whose records are cut off
	Spoofed          // sends answers with a wrong id and a wrong question, and then nothing
	SpoofFirst       // sends the same answers before the right one
	Truncated        // says over UDP that the answer is truncated
	NoTCP            // is Truncated, and closes TCP connections without an answer
	NoIPv6           // answers with SERVFAIL to questions for AAAA
	NoIPv4           // answers with SERVFAIL to questions for A
)

// Forged is the address in answers that a resolver must not use.
var Forged = netip.MustParseAddr("203.0.113.66")

// A Server is a name server. Its methods may be called while it answers.
type Server struct {
	Addr string // host:port, for UDP and TCP

	mu    sync.Mutex // guards the fields below
	zone  map[string][]dnsmessage.Resource
	fault Fault
	asked map[string]int
}

// Start starts a name server, which the end of the test stops.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{zone: map[string][]dnsmessage.Resource{}, asked: map[string]int{}}
	var packets net.PacketConn
	var listener net.Listener
	for listener == nil {
		var err error
		if packets, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		s.Addr = packets.LocalAddr().String()
		if listener, err = net.Listen("tcp", s.Addr); err != nil {
			packets.Close() // another program has the port for TCP
		}
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.servePackets(packets) })
	serving.Go(func() { s.serveTCP(listener, &serving) })
	t.Cleanup(func() {
		packets.Close()
		listener.Close()
		serving.Wait()
	})
	return s
}

// Set replaces the records of a name. Its addresses and services have the given TTL, in seconds.
// Without a record, the name exists but has no address.
func (s *Server) Set(name string, ttl uint32, bodies ...dnsmessage.ResourceBody) {
	owner := dnsmessage.MustNewName(strings.ToLower(name) + ".")
	records := []dnsmessage.Resource{}
	for _, b := range bodies {
		h := dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET, TTL: ttl}
		records = append(records, dnsmessage.Resource{Header: h, Body: b})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zone[owner.String()] = records
}

// Remove removes a name.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.zone, strings.ToLower(name)+".")
}

// Fail sets the fault of all answers.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Asked returns how often a name was asked for, by questions of all types.
func (s *Server) Asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[strings.ToLower(name)+"."]
}

// IP returns an A or an AAAA record.
func IP(text string) dnsmessage.ResourceBody {
	addr := netip.MustParseAddr(text)
	if addr.Is4() {
		return &dnsmessage.AResource{A: addr.As4()}
	}
	return &dnsmessage.AAAAResource{AAAA: addr.As16()}
}

// Alias returns a CNAME record.
func Alias(target string) dnsmessage.ResourceBody {
	return &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(target + ".")}
}

// Service returns an SRV record.
func Service(priority, weight, port uint16, target string) dnsmessage.ResourceBody {
	return &dnsmessage.SRVResource{Priority: priority, Weight: weight, Port: port,
		Target: dnsmessage.MustNewName(target + ".")}
}

func (s *Server) servePackets(conn net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		for _, answer := range s.answers(buf[:n], true) {
			conn.WriteTo(answer, from)
		}
	}
}

func (s *Server) serveTCP(l net.Listener, serving *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer conn.Close()
			var length [2]byte
			if _, err := io.ReadFull(conn, length[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(conn, query); err != nil {
				return
			}
			for _, answer := range s.answers(query, false) {
				conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			}
		})
	}
}

// answers returns the messages that answer a query.
func (s *Server) answers(query []byte, udp bool) [][]byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[strings.ToLower(q.Name.String())]++
	right := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true, RecursionDesired: true},
		Questions: m.Questions,
	}
	switch s.fault {
	case Silent:
		return nil
	case Garbage:
		return [][]byte{[]byte("garbage")}
	case ServFail:
		right.RCode = dnsmessage.RCodeServerFailure
		return [][]byte{pack(right)}
	case NoIPv6, NoIPv4:
		if (q.Type == dnsmessage.TypeAAAA) == (s.fault == NoIPv6) && q.Type != dnsmessage.TypeSRV {
			right.RCode = dnsmessage.RCodeServerFailure
			return [][]byte{pack(right)}
		}
	case Truncated, NoTCP:
		if udp {
			right.Truncated = true
			return [][]byte{pack(right)}
		}
		if s.fault == NoTCP {
			return nil
		}
	}
	s.fill(&right, q)
	full := pack(right)
	switch {
	case s.fault == Spoofed:
		return forged(right, q)
	case s.fault == SpoofFirst:
		return append(forged(right, q), full)
	case s.fault == Malformed:
		return [][]byte{full[:len(full)-3]}
	case udp && len(full) > 1232:
		right.Answers, right.Truncated = nil, true
		return [][]byte{pack(right)}
	}
	return [][]byte{full}
}

// fill adds the records for a question, with those of aliases.
func (s *Server) fill(m *dnsmessage.Message, q dnsmessage.Question) {
	name := strings.ToLower(q.Name.String())
	for range 20 {
		records, ok := s.zone[name]
		if !ok {
			m.RCode = dnsmessage.RCodeNameError
		}
		alias := ""
		for _, r := range records {
			if c, ok := r.Body.(*dnsmessage.CNAMEResource); ok {
				alias = c.CNAME.String()
				m.Answers = append(m.Answers, r)
			} else if typeOf(r.Body) == q.Type {
				m.Answers = append(m.Answers, r)
			}
		}
		if alias == "" {
			break
		}
		name = alias
	}
	if len(m.Answers) == 0 {
		m.Authorities = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName("."), Class: dnsmessage.ClassINET, TTL: 60},
			Body: &dnsmessage.SOAResource{NS: dnsmessage.MustNewName("ns."), MBox: dnsmessage.MustNewName("mail."),
				MinTTL: 1},
		}}
	}
}

func typeOf(b dnsmessage.ResourceBody) dnsmessage.Type {
	switch b.(type) {
	case *dnsmessage.AResource:
		return dnsmessage.TypeA
	case *dnsmessage.AAAAResource:
		return dnsmessage.TypeAAAA
	}
	return dnsmessage.TypeSRV
}

// forged returns answers that do not belong to the question: by their id, their name, and
// because they are a query.
func forged(right dnsmessage.Message, q dnsmessage.Question) [][]byte {
	right.Answers = []dnsmessage.Resource{{
		Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 3600},
		Body:   &dnsmessage.AResource{A: Forged.As4()},
	}}
	id, name, query := right, right, right
	id.ID++
	q.Name = dnsmessage.MustNewName("other.example.")
	name.Questions = []dnsmessage.Question{q}
	query.Response = false
	return [][]byte{pack(id), pack(name), pack(query)}
}

func pack(m dnsmessage.Message) []byte {
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}
