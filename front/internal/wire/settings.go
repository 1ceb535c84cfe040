package wire

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/log"
)

// Settings connect a server to the front door. The functions may be called concurrently.
type Settings struct {
	// Attach sets x.Context, which is the front door's. It is called once for each exchange, before its
	// first request.
	Attach func(x *Exchange)
	// Serve responds to a request. Afterwards the exchange may be used for another one.
	Serve func(x *Exchange)

	Log    func() *log.Logger // of the configuration in use
	Counts Counts
	Busy   func() bool // reports whether a request is in flight

	// Certificate returns the certificate for a handshake of TLS.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// CloseUnused closes a file of the process that is not in use, and reports whether there was one.
	CloseUnused func() bool
	// Admin returns the server of the pages for operators, at an address as configured.
	Admin func(addr string) *http.Server
}

// Counts are called for each event that a metric counts.
type Counts struct {
	Limited    func(limit string)             // a limit has refused or ended a connection, or refused a head
	Refused    func()                         // a request was rejected before it was complete
	Unused     func()                         // a client has sent nothing before its first head was due
	Header     func(reason string)            // a connection was closed because of its header of the PROXY protocol
	Handshake  func(handshake.Result)         // a handshake of TLS has ended
	Connected  func(client *handshake.Client) // and requests may follow
	HTTP2Error func(of, reason string)        // a client's error has ended a stream or a connection
	HTTP3Error func(of, reason string)
}

// The names of limits of connections and heads, in events and metrics.
const (
	LimitHeaders     = "headers"
	LimitHeaderTime  = "header_timeout"
	LimitConnections = "max_connections"
	LimitPerClient   = "connections_per_client"
	LimitFiles       = "open_files"
	limitAdmin       = "admin_connections"
)

// Limits are the limits of connections, and the rule for their beginning.
type Limits struct {
	Headers       int // length of a head, in bytes
	HeaderTimeout time.Duration
	IdleTimeout   time.Duration
	WriteTimeout  time.Duration // of a connection over HTTP/2; 0 for no limit

	Connections          int            // 0 for no limit
	ConnectionsPerClient int            // 0 for no limit
	Exempt               []netip.Prefix // clients without the limit ConnectionsPerClient

	ProxyHeader *ProxyHeaderRule // nil for none
}

// An Address is an address of the configuration.
type Address struct {
	Use     string // the key of the configuration
	Text    string // as configured
	Systemd string // name of the socket that systemd passes instead; "" for others
	TLS     bool
	HTTP3   bool // over UDP at the same address
}

// anyPort reports whether the kernel chooses the port.
func (a Address) anyPort() bool { return strings.HasSuffix(a.Text, ":0") && a.Systemd == "" }

// key identifies the listener of an address. It is the text. If the port is 0, the kernel chooses
// one for each use, and the key has the use too.
func (a Address) key() string {
	if a.anyPort() {
		return a.Use + " " + a.Text
	}
	return a.Text
}
