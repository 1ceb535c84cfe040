package front

import (
	"slices"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
)

// alpn are the protocols of the TLS listeners, the most preferred first.
var alpn = []string{alpnHTTP2, "http/1.1"}

// alpnHTTP2 is the protocol of connections over HTTP/2.
const alpnHTTP2 = "h2"

// useTLS applies the options of handshakes of a configuration.
func (s *server) useTLS(cfg *config.Config) {
	if cfg.TLS == nil {
		s.clientRules.Store(nil)
		return
	}
	o := handshake.Options{
		MinVersion: cfg.TLS.MinVersion, Protocols: alpn, Challenges: cfg.TLS.ACME != nil && cfg.TLS.ACME.ALPN,
	}
	for _, c := range cfg.TLS.ClientCertificates {
		o.Rules = append(o.Rules, handshake.Rule(c))
	}
	s.handshakes.Use(o)
	if p := s.handshakes.Policy(); p.HasRules() {
		s.clientRules.Store(p)
	} else {
		s.clientRules.Store(nil)
	}
}

// hasTLS reports whether an address of the configuration is that of a TLS listener.
func hasTLS(cfg *config.Config, a listenAddress) bool {
	return cfg.TLS != nil && slices.ContainsFunc(cfg.TLS.Listen, func(text string) bool {
		return listenAddress{useTLS, text}.key() == a.key()
	})
}

// awaitsHandshake reports whether the handshake of TLS must come before anything else.
func (c *clientConn) awaitsHandshake() bool { return c.tls == nil && c.scheme == "https" }

// plainHTTP is the reason of the refusal of a request without TLS.
const plainHTTP = "this port expects https"

// handshake does the handshake of TLS, whose first bytes have arrived, and returns the
// connection. It must be done by the given time. After a failure, which handshake counts and
// logs, it returns nil, and the caller calls finish.
func (c *clientConn) handshake(d transport.Driver, due time.Time) *transport.TLSConn {
	c.beginHandshake(due)
	t, client, err := c.server.handshakes.Do(c.Conn.(transport.Carrier), c.in.unread(), d)
	c.endHandshake()
	result := handshake.ResultOf(client, err)
	c.server.door.metrics.handshakes.count(result)
	switch {
	case result == handshake.PlainHTTP:
		c.refuse(400, plainHTTP)
		return nil
	case err != nil:
		c.server.handshakeLog.Note(string(result))
		t.Close()
		return nil
	}
	if client.IsChallenge() {
		t.Close()
		return nil
	}
	c.server.door.metrics.handshakes.countClient(client)
	c.in.release()
	c.in = nil
	t.SetDeadline(time.Time{})
	c.move(t)
	c.tls = client
	return t
}

// handshakeGrace is how long a handshake in progress may take after the connection must end.
// The client sends its first request after it.
const handshakeGrace = 2 * time.Second

func (c *clientConn) beginHandshake(due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shaking = true
	if c.listener.ending.Load() {
		due = time.Now().Add(handshakeGrace)
	}
	c.readBy, c.writeBy = due, due
	c.Conn.SetDeadline(due) // if this fails, so does the handshake
}

func (c *clientConn) endHandshake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shaking = false
}

// checkClient checks that the handshake of the connection has applied the rule for the
// request's host. It returns the status and the reason of a refusal, or 0.
func checkClient(p *handshake.Policy, x *exchange) (status int, why string) {
	if p.Misdirected(x.tls, x.http.Host) {
		return 421, "the connection was not made for this host, which has other rules for client certificates"
	}
	return 0, ""
}

// passSubject passes the subject of the client's certificate to the upstream in the named
// field, or removes the field.
func (x *exchange) passSubject(name string) {
	if x.tls == nil || x.tls.Subject == "" {
		x.SendRemove = stage.JoinNames(x.SendRemove, []string{name})
		return
	}
	x.Send = append(x.Send, proxy.Field{Name: name, Value: x.tls.Subject})
}

// eventHandshakes is the event of handshakes that have failed.
const eventHandshakes = "tls handshakes failed"

// newHandshakeLog returns the log of handshakes that have failed. Any scan of the internet
// causes some.
func newHandshakeLog(logger func() *log.Logger) eventpace.Flood {
	return eventpace.Flood{Log: func() log.Event { return logger().Info(eventHandshakes) }, Key: "result"}
}
