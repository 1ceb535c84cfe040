package http3

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/quic-go/quic-go"
)

// A Socket is a UDP socket for QUIC. Several sockets of processes of the same user may have
// the same address; see [Socket.HandOver].
type Socket struct {
	*net.UDPConn
	tag [tagLen]byte
}

const (
	// tagLen is the length of the tag that begins the connection ids of a process.
	tagLen = 2
	// idLen is the length of connection ids.
	idLen = 8
)

// ErrShared is the error of [Socket.HandOver] while another socket has the address.
var ErrShared = errors.New("a process that drains still serves HTTP/3")

// Listen returns a socket that is bound to an address.
func Listen(addr netip.AddrPort) (*Socket, error) {
	network := "udp"
	if addr.Addr().Is4() {
		network = "udp4"
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if controlErr := c.Control(func(fd uintptr) { err = shareAddress(int(fd)) }); controlErr != nil {
			return controlErr
		}
		return err
	}}
	c, err := config.ListenPacket(context.Background(), network, addr.String())
	if err != nil {
		return nil, err
	}
	s := &Socket{UDPConn: c.(*net.UDPConn)}
	rand.Read(s.tag[:])
	// quic-go sets the size of the buffers. If the kernel allows less, it would write to
	// standard error. BufferSize reports it instead.
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	return s, nil
}

// GenerateConnectionID implements quic.ConnectionIDGenerator.
func (s *Socket) GenerateConnectionID() (quic.ConnectionID, error) {
	var id [idLen]byte
	n := copy(id[:], s.tag[:])
	if _, err := rand.Read(id[n:]); err != nil {
		return quic.ConnectionID{}, err
	}
	return quic.ConnectionIDFromBytes(id[:]), nil
}

// ConnectionIDLen implements quic.ConnectionIDGenerator.
func (s *Socket) ConnectionIDLen() int { return idLen }

// wantedBuffer is the size of the buffers that quic-go asks for.
const wantedBuffer = 7 << 20
