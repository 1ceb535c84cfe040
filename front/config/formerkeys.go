package config

import (
	"strconv"

	"github.com/weirhq/weir/internal/yamlfile"
)

// formerKeys return the hints for keys that this file had before its first release, by their path, for the value that
// they have.
var formerKeys = map[string]func(value *yamlfile.Node) string{
	"upstreams.*.response_fields":           now("max_response_fields"),
	"upstreams.*.connect":                   connectWait,
	"upstreams.*.proxy_protocol":            sendProxyProtocol,
	"routes.*.mirror.percent":               mirrorShare,
	"routes.*.sticky":                       stickyOfRoute,
	"routes.*.forward_auth.request_headers": now("send"),
	"log.request_headers":                   now("request_fields"),
	"log.response_headers":                  now("response_fields"),
	"routes.*.log.request_headers":          now("request_fields"),
	"routes.*.log.response_headers":         now("response_fields"),
	"routes.*.cors.headers":                 now("allow_headers"),
	"routes.*.cors.methods":                 now("allow_methods"),
	"routes.*.cors.expose":                  now("expose_headers"),
	"limits.timeouts":                       now("client_timeouts"),
	"routes.*.limits.timeouts":              now("client_timeouts"),
	"limits.headers":                        now("head"),
	"compress":                              inDefaults("compress"),
	"error_pages":                           inDefaults("error_pages"),
	"maintenance":                           inDefaults("maintenance"),
	"access":                                inDefaults("access"),
	"limits.body":                           inDefaultLimits("body"),
	"limits.upload_rate":                    inDefaultLimits("upload_rate"),
	"limits.download_rate":                  inDefaultLimits("download_rate"),
	"limits.client_timeouts.read":           inClientTimeouts("read"),
	"limits.client_timeouts.write":          inClientTimeouts("write"),
	"limits.rate.every":                     rateLimit,
	"routes.*.limits.rate.every":            rateLimit,
	"upstreams.*.connections.wait":          waitOfQueue,
	"tls.acme.ca_roots":                     now("roots"),
	"tls.client_certificates.*.optional":    required,
	// end
}

// now returns the hint for a key that has another name now.
func now(name string) func(*yamlfile.Node) string {
	return func(*yamlfile.Node) string { return "write " + name }
}

// inDefaults returns the hint for a key of all routes that belongs to defaults.
func inDefaults(name string) func(*yamlfile.Node) string {
	return func(value *yamlfile.Node) string {
		return "write it in defaults, as in defaults: {" + name + ": " + value.Flow() + "}"
	}
}

// inDefaultLimits is inDefaults for a limit of a single request.
func inDefaultLimits(name string) func(*yamlfile.Node) string {
	return func(value *yamlfile.Node) string {
		return "write it in defaults, as in defaults: {limits: {" + name + ": " + value.Flow() + "}}"
	}
}

// inClientTimeouts is inDefaults for a time limit of a single request.
func inClientTimeouts(name string) func(*yamlfile.Node) string {
	return func(value *yamlfile.Node) string {
		return "write it in defaults, as in defaults: {limits: {client_timeouts: {" + name + ": " + value.Flow() + "}}}"
	}
}

func required(optional *yamlfile.Node) string {
	return "write required: " + strconv.FormatBool(optional.Text != "true")
}

func sendProxyProtocol(value *yamlfile.Node) string {
	return "write send_proxy_protocol: " + value.Flow()
}

func mirrorShare(value *yamlfile.Node) string {
	if value.Text == "0" {
		return "remove the mirror: it copies nothing"
	}
	return "write share: " + value.Text + "%"
}

func rateLimit(value *yamlfile.Node) string {
	interval, refused := yamlfile.Duration(value.Scalar())
	if refused != nil || interval <= 0 {
		return "write limit: 100/s"
	}
	return "write limit: " + yamlfile.ShowRate(interval)
}

func waitOfQueue(value *yamlfile.Node) string {
	return "write it in queue, as in queue: {length: 50, wait: " + value.Flow() + "}"
}

func stickyOfRoute(*yamlfile.Node) string {
	return "write sticky_split for a split, or write sticky in an upstream to keep clients at its servers"
}

func connectWait(value *yamlfile.Node) string {
	return "write connect_wait: " + below(value, "retry", "1s")
}

// below returns the single value of a key of a mapping, or an example.
func below(mapping *yamlfile.Node, name, example string) string {
	for _, pair := range mapping.Pairs {
		if pair.Key.Text == name && pair.Value.Kind == yamlfile.Single {
			return pair.Value.Text
		}
	}
	return example
}
