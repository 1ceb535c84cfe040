package wire

import (
	"net"
	"testing"
)

// TestPortOfTheKernelIsFreeOverUDPToo takes so many ports over UDP that some of the ports which the kernel chooses over TCP
// are among them.
func TestPortOfTheKernelIsFreeOverUDPToo(t *testing.T) {
	s := open(t, false, Limits{})
	for range 2000 {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	kept := Address{Use: "listen", Text: "127.0.0.1:0"}
	for range 100 {
		c, err := s.Prepare([]Address{kept, {Use: "tls.listen", Text: "127.0.0.1:0", TLS: true, HTTP3: true}}, Address{})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.listeners) != 2 || len(c.uses) != 2 || len(c.added) != 1 || c.http3[c.listeners[1]] == nil {
			t.Errorf("%d listeners, %d uses, %d added, %d over UDP; want 2, 2, 1, 1", len(c.listeners), len(c.uses), len(c.added),
				len(c.http3))
		}
		c.Abandon()
	}
}
