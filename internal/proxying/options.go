package proxying

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/httpsyntax"
)

// DefaultMaxFields limits the fields of a response if its Upstream sets no
// other limit.
const DefaultMaxFields = http1.DefaultMaxFields

// Options are the settings of an [Upstream]. The zero value is an upstream without servers. What
// its fields refer to must not change once it is used.
type Options struct {
	// Servers are the first servers. Without one, [Upstream.SetServers] must set them.
	Servers []Endpoint

	// HTTP2 is HTTP/2, by ALPN with https servers and by prior knowledge with others. Upgrades
	// are not passed on then. The default is HTTP/1.1.
	HTTP2 bool

	TLS TLS // of https servers

	// ProxyProtocol is the version of the PROXY protocol, 1 or 2, by which the servers get the
	// address of the client. 0 sends no header. Each exchange then has a connection of its own,
	// so it excludes HTTP2.
	ProxyProtocol int

	// ConnectRetry limits the time in which an exchange retries to connect if
	// no server accepts a connection. The pauses between the attempts grow.
	// Nothing was sent yet, so this is safe with any method. 0 means no retry.
	ConnectRetry time.Duration

	// Retry determines when a request is sent again.
	Retry Retry

	// MaxFields limits the fields in the head of a response, and those in its
	// trailers. A response with more is malformed. 0 means DefaultMaxFields.
	MaxFields int

	// Balance is the policy by which exchanges choose a server. HashKey belongs to Hash.
	Balance Policy
	HashKey HashKey

	// Sticky, if not nil, keeps clients at their servers.
	Sticky *Sticky

	// SlowStart is the time in which the share of a server grows from nothing to its weight after
	// the server was added, or can be used again. The first servers of an upstream have no slow
	// start. 0 means none.
	SlowStart time.Duration

	// Limit limits the exchanges at each server.
	Limit ServerLimit

	// Conns, if not nil, counts the connections of the upstream.
	Conns *Conns

	// Prepare, if not nil, is called for each server before its first exchange, and may set its
	// Context.
	Prepare func(*Server)
}

// check returns an error that names a wrong option.
func (o *Options) check() error {
	switch {
	case o.ProxyProtocol < 0 || o.ProxyProtocol > 2:
		return fmt.Errorf("ProxyProtocol is %d, want 0, 1 or 2", o.ProxyProtocol)
	case o.ProxyProtocol != 0 && o.HTTP2:
		return errors.New("the options ProxyProtocol and HTTP2 exclude each other: clients share connections of HTTP/2")
	case o.MaxFields < 0:
		return fmt.Errorf("MaxFields is %d, want at least 0", o.MaxFields)
	case o.Balance > Hash:
		return fmt.Errorf("policy %d of Balance is unknown", o.Balance)
	case o.Balance != Hash && o.HashKey != HashKey{}:
		return errors.New("HashKey needs the policy Hash")
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{{"ConnectRetry", o.ConnectRetry}, {"SlowStart", o.SlowStart}, {"Limit.Wait", o.Limit.Wait}} {
		if d.Duration < 0 {
			return fmt.Errorf("%s is %v, want at least 0", d.name, d.Duration)
		}
	}
	return cmp.Or(o.HashKey.check(), o.Limit.check(), o.Retry.check(), o.Sticky.check())
}

func (k *HashKey) check() error {
	named := k.By == ByHeader || k.By == ByCookie
	switch {
	case k.By > ByCookie:
		return fmt.Errorf("HashKey.By is %d, which is no kind of key", k.By)
	case named && !httpsyntax.IsToken(k.Name):
		return fmt.Errorf("HashKey.Name is %q, want the name of a field or cookie", k.Name)
	case !named && k.Name != "":
		return fmt.Errorf("HashKey.Name is %q, but the key has no name", k.Name)
	}
	return nil
}

func (l *ServerLimit) check() error {
	switch {
	case l.Max < 0 || l.Queue < 0:
		return fmt.Errorf("Limit.Max is %d and Limit.Queue is %d, want at least 0", l.Max, l.Queue)
	case l.Max == 0 && l.Queue > 0:
		return errors.New("Limit.Queue needs Limit.Max")
	case l.Queue > 0 && l.Wait == 0:
		return errors.New("Limit.Queue needs Limit.Wait")
	}
	return nil
}

func (r *Retry) check() error {
	if r.Attempts < 0 || r.Attempts > MaxAttempts {
		return fmt.Errorf("Retry.Attempts is %d, want 0 to %d", r.Attempts, MaxAttempts)
	}
	for _, m := range r.Methods {
		if !httpsyntax.IsToken(m) {
			return fmt.Errorf("Retry.Methods has %q, which is no method", m)
		}
	}
	for _, why := range r.On {
		if !slices.Contains(retryReasons, why) {
			return fmt.Errorf("Retry.On has %q, which is no reason to choose", why)
		}
	}
	return nil
}

// retryReasons are the reasons that [Retry.On] may have.
var retryReasons = []RetryReason{RetryReset, RetryTimeout, Retry502, Retry503, Retry504}

func (s *Sticky) check() error {
	switch {
	case s == nil:
	case !httpsyntax.IsToken(s.Cookie):
		return fmt.Errorf("Sticky.Cookie is %q, want the name of a cookie", s.Cookie)
	case len(s.Secret) == 0:
		return errors.New("Sticky.Secret is empty")
	case s.MaxAge < 0:
		return fmt.Errorf("Sticky.MaxAge is %v, want at least 0", s.MaxAge)
	}
	return nil
}
