package load

import (
	"crypto/tls"
	"fmt"

	"github.com/weirhq/weir/load/internal/line"
)

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

	// newLine returns a line to the server. config is nil for http.
	newLine func(server string, config *tls.Config) line.Line
}{
	HTTP1: {name: "HTTP/1.1", newLine: line.HTTP1},
	HTTP2: {name: "HTTP/2", streams: true, newLine: line.HTTP2},
}

func (p Protocol) String() string {
	if p.known() {
		return protocols[p].name
	}
	return fmt.Sprintf("Protocol(%d)", uint8(p))
}

func (p Protocol) known() bool { return int(p) < len(protocols) }
