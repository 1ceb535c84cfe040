package transport

import (
	"testing"
)

// TestTLSEchoAllocatesOncePerRecord sends requests and responses between two connections with TLS on a
// loop. The only allocation is the one of crypto/tls for each record that it reads.
func TestTLSEchoAllocatesOncePerRecord(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	l := startLoop(t)
	client, server := l.connectedTLS(t)
	if n := l.echoAllocations(client, server); n > 2*echoes {
		t.Errorf("%v allocations for a task with %d exchanges, want one for each record", n, echoes)
	}
}

// connectedTLS returns both ends of a connection with TLS, which are both on the loop.
func (l testLoop) connectedTLS(t testing.TB) (client, server *TLSConn) {
	t.Helper()
	a, b := l.connected(t)
	client, server = NewTLSClient(a, clientConfig()), NewTLSServer(b, nil, serverConfig())
	failed := make(chan error, 2)
	for _, c := range []*TLSConn{client, server} {
		l.Post(func() { l.Go(taskFunc(func() { failed <- c.Handshake(l.Block) })) })
	}
	for range 2 {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	return client, server
}
