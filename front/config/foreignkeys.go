package config

import "github.com/weirhq/weir/internal/yamlfile"

// foreignHint returns the hint for a key that other front doors use, or that this file had before, or "".
func foreignHint(path string, value *yamlfile.Node) string {
	if hint := formerKeys[path]; hint != nil {
		return hint(value)
	}
	return foreignKeys[path]
}

// foreignKeys are the hints for keys that other front doors use, by their path in this file.
var foreignKeys = func() map[string]string {
	const (
		inMatch  = `write it in match, as in match: "GET,HEAD example.com/api/{path...}"`
		action   = `name an upstream, as in to: site`
		fields   = "write request_headers or response_headers, as in request_headers: {set: {X-Env: prod}}"
		noOrder  = "the order and the priority of routes have no meaning: the most specific pattern wins"
		response = `write a fixed response, as in respond: {status: 404}, or redirect: {to: /new, status: 301}`
		verified = "servers are always verified; roots names the file with a self-signed certificate"
		upgrades = "websocket is on by default; see upgrade"
	)
	keys := make(map[string]string)
	for hint, names := range map[string][]string{
		inMatch: {"host", "hosts", "server_name", "method", "methods", "location", "path_prefix", "rule", "handle"},
		action: {"proxy", "proxy_pass", "grpc_pass", "reverse_proxy", "upstream", "backend", "use_backend",
			"default_backend", "service"},
		fields:   {"header", "headers", "add_header", "proxy_set_header", "header_up", "header_down"},
		noOrder:  {"priority", "order"},
		response: {"return", "status", "redir"},
		upgrades: {"websocket", "websockets"},
		"write files, as in files: {root: public}":                            {"root", "alias", "static", "file_server"},
		"write files: {root: public, fallback: /index.html}":                  {"try_files"},
		"write compress: true":                                                {"gzip", "encode"},
		"write basic_auth, as in basic_auth: {users: users.htpasswd}":         {"auth", "auth_basic", "basicauth"},
		"write forward_auth, as in forward_auth: {to: login, path: /verify}":  {"auth_request", "forwardAuth"},
		"write access, as in access: {allow: [10.0.0.0/8]}":                   {"ip_whitelist", "ipAllowList"},
		"weir needs no middlewares: write the keys of a feature in the route": {"middlewares", "middleware"},
	} {
		for _, name := range names {
			keys["routes.*."+name] = hint
		}
	}
	for path, hint := range map[string]string{
		"routes.*.respond.body":                    "write text, as in respond: {status: 404, text: gone}",
		"routes.*.respond.code":                    "write status, as in respond: {status: 404}",
		"routes.*.redirect.code":                   "write status, as in redirect: {to: /new, status: 301}",
		"routes.*.redirect.permanent":              "write status, as in redirect: {to: /new, status: 301}",
		"routes.*.redirect.url":                    "write to, as in redirect: {to: /new}",
		"routes.*.files.try_files":                 "write fallback, as in fallback: /index.html",
		"routes.*.files.browse":                    "weir does not list folders",
		"routes.*.files.autoindex":                 "weir does not list folders",
		"routes.*.forward_auth.address":            "name an upstream and a path, as in forward_auth: {to: login, path: /verify}",
		"routes.*.forward_auth.url":                "name an upstream and a path, as in forward_auth: {to: login, path: /verify}",
		"server":                                   `write listen, and routes with a host, as in match: "example.com/{path...}"`,
		"http":                                     "write its keys at the top of the file, as in examples/",
		"entryPoints":                              `write listen, as in listen: ":80"`,
		"upstreams.*.server":                       "write servers, as in servers: http://10.0.0.7:8080",
		"upstreams.*.loadBalancer":                 "write servers, as in servers: [http://10.0.0.7:8080, http://10.0.0.8:8080]",
		"upstreams.*.scheme":                       "write http:// or https:// in the URLs of the servers; see protocol",
		"upstreams.*.http2":                        "write protocol: http2",
		"upstreams.*.ssl":                          "write https:// in the URLs of the servers; see tls",
		"upstreams.*.tls.verify":                   verified,
		"upstreams.*.tls.insecure":                 verified,
		"upstreams.*.tls.insecure_skip_verify":     verified,
		"upstreams.*.tls.tls_insecure_skip_verify": verified,
		"upstreams.*.tls.insecureSkipVerify":       verified,
		"upstreams.*.tls.server_name":              "write name",
		"upstreams.*.tls.sni":                      "write name",
		"upstreams.*.tls.ca":                       "write roots",
		"upstreams.*.tls.ca_file":                  "write roots",
		"upstreams.*.max_fails":                    "write outliers, as in outliers: {consecutive: 5, ejection: 10s}",
		"upstreams.*.fail_timeout":                 "write outliers, as in outliers: {consecutive: 5, ejection: 10s}",
		"upstreams.*.health_check":                 "write health, as in health: {path: /healthz}",
		"upstreams.*.healthCheck":                  "write health, as in health: {path: /healthz}",
		"upstreams.*.health_uri":                   "write health, as in health: {path: /healthz}",
		"upstreams.*.health.uri":                   "write path, as in path: /healthz",
		"upstreams.*.resolve":                      "names are always resolved again; see dns",
		"resolver":                                 "write dns, as in dns: {servers: [10.0.0.2]}",
		"routes.*.request_headers.delete":          "write remove, as in remove: [X-Debug]",
	} {
		keys[path] = hint
	}
	return keys
}()
