package front

import (
	"net/http"
	"strings"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/admin"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/networks"
	"github.com/weirhq/weir/front/internal/wire"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
)

// wireSettings connects the server to the door.
func (d *Door) wireSettings() wire.Settings {
	m := d.metrics
	return wire.Settings{
		Attach:      attach,
		Serve:       func(x *wire.Exchange) { d.serve(x.Context.(*exchange)) },
		Log:         d.logger,
		Busy:        func() bool { return m.inFlight.Load() > 0 },
		Certificate: d.certs.store.Get,
		CloseUnused: d.conns.CloseUnused,
		Admin:       d.adminServer,
		Counts: wire.Counts{
			Limited:    func(limit string) { m.refusal(limit, allRoutes).Inc() },
			Refused:    m.refused.Inc,
			Unused:     m.unused.Inc,
			Header:     func(reason string) { m.headers.WithLabelValues(reason).Inc() },
			Handshake:  m.handshakes.count,
			Connected:  m.handshakes.countClient,
			HTTP2Error: func(of, reason string) { m.http2.WithLabelValues(of, reason).Inc() },
			HTTP3Error: func(of, reason string) { m.http3.WithLabelValues(of, reason).Inc() },
		},
	}
}

// adminServer returns the server of the pages for operators.
func (d *Door) adminServer(addr string) *http.Server {
	return admin.NewServer(addr, admin.Pages{
		Draining: d.draining.Load, Metrics: d.metrics.handler(), Log: d.out, Cost: d.cost,
		Upstreams: d.upstreams, Token: d.adminToken, Logger: d.logger, ErrorLog: d.errorLog,
		Dashboard: d.dashboard,
	})
}

// adminToken returns the token of operators, or "".
func (d *Door) adminToken() string { return d.tables.Load().config.AdminToken }

// logFile returns the file of the log that has the events of requests, or why there is none. A front door in another
// program may have an output that is not of its configuration.
func (d *Door) logFile() (file, why string) {
	cfg := &d.tables.Load().config.Log
	if _, ok := d.out.(*logto.Log); !ok || cfg.File() == "" {
		return "", "the log does not go to a file of this process: search it where it is collected"
	}
	if why = d.untailable(); why != "" {
		return "", why
	}
	return cfg.File(), ""
}

// logError returns the last error of a destination of the log, or "".
func (d *Door) logError(to string) string {
	log, ok := d.out.(*logto.Log)
	if !ok {
		return ""
	}
	for _, state := range log.Destinations() {
		if state.To == to && state.Stats.LastError != nil {
			return state.Stats.LastError.Error()
		}
	}
	return ""
}

// untailable returns why the lines of the log are no events that a program can read, or "".
func (d *Door) untailable() string {
	if d.tables.Load().config.Log.Format == "human" {
		return "log.format is human, which no program can read: json and ltsv are for programs, too"
	}
	return ""
}

// useLimits applies the limits of connections and the log of a configuration.
func (d *Door) useLimits(t *tables) {
	l := withDefaults(t.config.Limits)
	limits := wire.Limits{
		Headers: l.Head, HeaderTimeout: l.HeaderTimeout, IdleTimeout: l.IdleTimeout, WriteTimeout: max(l.WriteTimeout, 0),
		Connections: t.files.Clients, ConnectionsPerClient: l.ConnectionsPerClient, Exempt: t.config.TrustedProxies,
	}
	if p := t.config.ProxyProtocol; p != nil {
		limits.ProxyHeader = &wire.ProxyHeaderRule{From: networks.New(p.From).Contains, Required: p.Required}
	}
	d.server.Use(limits)
	log.Capture(d.errorLog, t.events.log, log.LevelWarn, "http server complaint")
}

// useTLS applies the options of handshakes of a configuration.
func (d *Door) useTLS(cfg *config.Config) {
	if cfg.TLS == nil {
		d.rules.Store(nil)
		return
	}
	o := handshake.Options{
		MinVersion: cfg.TLS.MinVersion, Challenges: cfg.TLS.ACME != nil && cfg.TLS.ACME.ALPN,
	}
	for _, c := range cfg.TLS.ClientCertificates {
		o.Rules = append(o.Rules, handshake.Rule(c))
	}
	if p := d.server.UseTLS(o); p.HasRules() {
		d.rules.Store(p)
	} else {
		d.rules.Store(nil)
	}
}

// addressesOf returns the addresses of the listeners of a configuration.
func addressesOf(cfg *config.Config) (public []wire.Address, admin wire.Address) {
	for _, text := range cfg.Listen {
		public = append(public, addressOf("listen", text))
	}
	if cfg.TLS != nil {
		for _, text := range cfg.TLS.Listen {
			a := addressOf("tls.listen", text)
			a.TLS, a.HTTP3 = true, cfg.TLS.HTTP3
			public = append(public, a)
		}
	}
	if cfg.Admin != config.AdminOff {
		admin = addressOf("admin", cfg.Admin)
	}
	return public, admin
}

func addressOf(key, text string) wire.Address {
	a := wire.Address{Use: key, Text: text}
	if name, found := strings.CutPrefix(text, config.SystemdPrefix); found {
		a.Systemd = name
	}
	return a
}
