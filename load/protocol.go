package load

import "fmt"

// A Protocol is a version of HTTP.
type Protocol uint8

// The protocols. HTTP2 over http needs no upgrade (h2c "with prior knowledge").
const (
	HTTP1 Protocol = iota
	HTTP2
)

// protocols has a row for each Protocol.
var protocols = [...]struct {
	name    string
	streams bool // a request may have to wait for a stream
}{
	HTTP1: {name: "HTTP/1.1"},
	HTTP2: {name: "HTTP/2", streams: true},
}

func (p Protocol) String() string {
	if p.known() {
		return protocols[p].name
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

func (p Protocol) known() bool { return int(p) < len(protocols) }
