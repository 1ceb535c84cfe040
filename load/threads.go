package load

import "crypto/tls"

// newThreads returns what will send: loops where there are any for what is to
// be spoken, else workers.
func (r *run) newThreads() ([]thread, error) {
	secure := r.program.Origin.Scheme == "https"
	if !secure && r.plan.Protocol == HTTP1 {
		if threads, err := r.newLoops(); threads != nil || err != nil {
			return threads, err
		}
	}
	pick := r.picker(secure)
	threads := make([]thread, r.plan.Threads)
	for i := range threads {
		threads[i] = newWorkers(r, i, pick)
	}
	return threads, nil
}

// picker returns what makes lines for the plan's protocol.
func (r *run) picker(secure bool) picker {
	var config *tls.Config
	if secure {
		config = r.plan.TLS.Clone()
		if config == nil {
			config = &tls.Config{}
		}
		if config.ServerName == "" {
			config.ServerName = r.program.Origin.Host
		}
	}
	if r.plan.Protocol == HTTP1 {
		return func() line { return &http1Line{server: r.server, tls: config} }
	}
	scheme := "http"
	if config != nil {
		scheme, config.VerifyConnection = "https", onlyHTTP2
	}
	return func() line { return &http2Line{scheme: scheme, server: r.server, tls: config} }
}
