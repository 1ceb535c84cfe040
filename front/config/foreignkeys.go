package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// foreignHint returns the hint for a key that other front doors use, or that this file had before, or "".
func foreignHint(path string, value *yamlfile.Node) string {
	if hint := formerKeys[path]; hint != nil {
		return hint(value)
	}
	if hint := foreignKeys[path]; hint != "" {
		return hint
	}
	if top, _, _ := strings.Cut(path, "."); strings.ContainsAny(path, ".:/*") && !strings.Contains(path, "$") && !isKeyAtTop(top) { // of a Caddyfile
		return `write a route for it, as in routes: [{match: "example.com/{path...}", to: site}]`
	}
	parent, name := key{Path: path}.Parent()
	if hint := routeKeyHint(parent, name, value); hint != "" {
		return hint
	}
	if strings.HasSuffix(parent, "_headers") {
		return headerHint(name, value)
	}
	if parent != "" && parent != routePath && parent != "upstreams.*" {
		return ""
	}
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	if hint := foreignDirectives[name]; hint != "" {
		return hint
	}
	first, _, _ := strings.Cut(name, " ") // a directive with its arguments
	return foreignDirectives[first]
}

func isKeyAtTop(name string) bool {
	return slices.ContainsFunc(schema, func(k key) bool { return k.Path == name })
}

// routeKeyHint returns the hint for a key of a route at the top of the file, or "".
func routeKeyHint(parent, name string, value *yamlfile.Node) string {
	i := slices.IndexFunc(schema, func(k key) bool { return k.Path == routePath+"."+name })
	if parent != "" || i < 0 {
		return ""
	}
	switch why, _ := refusedInDefaults(schema[i]); {
	case why == "" && value.Kind == yamlfile.Mapping:
		return "write it in defaults"
	case why == "":
		return inDefaults(name)(value)
	}
	return `write it in a route, as in routes: [{match: "/{path...}", to: site}]`
}

// inGroup returns the hints for the keys of a group, which are read as keys of a route. ofRoute returns those of a route.
func inGroup(ofRoute func(path string, value *yamlfile.Node) string) func(path string, value *yamlfile.Node) string {
	return func(path string, value *yamlfile.Node) string {
		if hint := keysOfGroups[path]; hint != "" {
			return hint
		}
		return ofRoute(path, value)
	}
}

// keysOfGroups are the hints for keys that a group has under other names, by the path of a key of a route.
var keysOfGroups = byPath(map[string]map[string]string{routePath: {
	"host hostname server_name domain domains":              "write hosts, as in hosts: [example.com]",
	"path path_prefix location base_path handle_path route": "write prefix, as in prefix: /api, and the routes of the group in routes",
}})

// headerHint returns the hint for a header field beside set, add and remove.
func headerHint(name string, value *yamlfile.Node) string {
	switch removed := strings.TrimPrefix(name, "-"); {
	case value.Kind != yamlfile.Single:
		return ""
	case strings.HasPrefix(name, "+"):
		return "write add: {" + name[1:] + ": " + value.Flow() + "}"
	case removed != name:
		return "write remove: [" + removed + "]"
	case strings.ToLower(name) == name:
		return ""
	}
	return "write set: {" + name + ": " + value.Flow() + "}"
}

// foreignDirectives are the hints for directives and keys of other front doors at the top of the file, in routes and in
// upstreams, by their names in lower case with _ in place of -. Of a name with arguments, the first word is enough.
var foreignDirectives = func() map[string]string {
	const (
		tlsFiles = "write tls, as in tls: {certificates: [{cert: site.pem, key: site.key}]}"
		acme     = "write tls: {acme: {domains: [example.com]}}"
		clients  = "write limits: {client_timeouts: {header: 10s, idle: 75s}} at the top, and {client_timeouts: {read: 20s, write: 1m}} in the limits of a route or of defaults"
		rates    = "write limits, as in limits: {rate: {limit: 10/s, burst: 20}}"
		health   = "write health in an upstream, as in health: {path: /healthz, interval: 5s}"
		outliers = "write outliers in an upstream, as in outliers: {consecutive: 5, ejection: 10s}"
		retries  = "write retry in an upstream, as in retry: {attempts: 3, on: [reset, timeout]}"
		toTLS    = "write https:// in the URLs of the servers, and tls in the upstream, as in tls: {roots: ca.pem}"
		pool     = "write connections in an upstream, as in connections: {max: 100}"
		balances = "write balance in an upstream, as in balance: least_connections"
		always   = "remove it: weir does this always"
		none     = "remove it: weir has no such setting"
		missing  = "weir does not have it: forward these requests to a service with to"
	)
	all := make(map[string]string)
	for hint, names := range map[string]string{
		`write it in match of a route, as in match: "GET,HEAD example.com/api/{path...}"`: "host hosts server_name method methods " +
			"location path_prefix rule handle route path path_beg path_regexp path_reg matcher limit_except frontend routers",
		"write to in a route, as in to: site, and its servers in upstreams": "proxy proxy_pass grpc_pass reverse_proxy " +
			"upstream backend use_backend default_backend service services loadbalancer",
		"write request_headers or response_headers, as in request_headers: {set: {X-Env: prod}}": "header headers",
		"write response_headers, as in response_headers: {set: {X-Frame-Options: DENY}}": "add_header more_set_headers " +
			"http_response http_after_response customresponseheaders framedeny rspadd",
		"write request_headers, as in request_headers: {set: {X-Env: prod}}":                         "proxy_set_header header_up request_header http_request customrequestheaders reqadd",
		"write response_headers, as in response_headers: {remove: [X-Powered-By]}":                   "proxy_hide_header header_down more_clear_headers",
		"the order and the priority of routes have no meaning: the most specific pattern wins":       "priority order",
		"write a fixed response, as in respond: {status: 404}, or redirect: {to: /new, status: 301}": "return status redir error abort",
		"write redirect in a route, as in redirect: {to: /new, status: 301}":                         "redirectregex redirectpermanent",
		"write tls: {redirect: true}":                                                                    "redirectscheme auto_https",
		"write tls: {hsts: 365d}":                                                                        "stsseconds hsts",
		"websocket is on by default; see upgrade":                                                        "websocket websockets",
		"write files in a route, as in files: {root: public}":                                            "root alias static file_server index",
		"write files in a route, as in files: {root: public, fallback: /index.html}":                     "try_files",
		"write files, as in files: {root: public, cache_control: max-age=3600}":                          "expires",
		"write files, as in files: {root: public, precompressed: [gzip]}":                                "gzip_static precompressed",
		"weir does not list folders":                                                                     "browse autoindex",
		"write compress: true in a route, a group or defaults":                                           "gzip encode compression brotli gzip_vary filter",
		"write compress, as in compress: {types: [text/html], min_length: 1KiB}":                         "gzip_types gzip_min_length gzip_comp_level",
		"write basic_auth, as in basic_auth: {users: users.htpasswd}":                                    "auth auth_basic basicauth auth_basic_user_file userlist digestauth",
		"write forward_auth, as in forward_auth: {to: login, path: /verify}":                             "auth_request forwardauth auth_request_set",
		"write access, as in access: {allow: [10.0.0.0/8]}":                                              "ip_whitelist ipallowlist ipwhitelist remote_ip client_ip src allow deny satisfy",
		"weir needs no middlewares: write the keys of a feature in the route, in a group or in defaults": "middlewares middleware chain snippet",
		"write conditions in when of a route, as in when: {headers: {X-Beta: true}}":                     "if map acl hdr",
		"write cors, as in cors: {origins: [https://app.example.com]}":                                   "accesscontrolalloworiginlist allowed_origins",
		"write strip_prefix: /api":                                                                       "handle_path stripprefix uri",
		"write add_prefix: /v2":                                                                          "addprefix",
		`write rewrite, as in rewrite: "/new/{path}"`:                                                    "replacepath replacepathregex replace stripprefixregex",
		"write error_pages, as in error_pages: {404: pages/404.html}":                                    "error_page errors errorfile handle_errors http_error",
		"write error_pages: {404: pages/404.html, intercept: true}":                                      "proxy_intercept_errors",
		"write mirror in a route, as in mirror: {to: shadow, share: 10%}":                                "mirroring mirror_request_body",
		"write split in a route, as in split: [{to: site, weight: 95}, {to: next, weight: 5}]":           "split_clients weighted",
		"write timeout in a route, as in timeout: 60s": "proxy_read_timeout proxy_send_timeout timeouts grpc_read_timeout " +
			"forwardingtimeouts",
		"write timeout: 60s in a route; see connect_wait of an upstream":             "proxy_connect_timeout dial_timeout connect_timeout",
		"write limits, as in limits: {body: 10MiB}, in a route, a group or defaults": "client_max_body_size request_body buffering max_body_size",
		rates: "limit_req limit_req_zone rate_limit ratelimit stick_table throttle",
		"write limits, as in limits: {in_flight: 100}":                                                    "limit_conn limit_conn_zone inflightreq",
		"remove it: weir limits only slow clients; see download_rate in the limits of a route":            "limit_rate",
		"write limits: {max_connections: 10000} at the top, or connections: {max: 100} in an upstream":    "maxconn worker_connections events",
		"write limits: {head: 64KiB} at the top":                                                          "large_client_header_buffers client_header_buffer_size",
		clients:                                                                                           "client_header_timeout client_body_timeout keepalive_timeout send_timeout respondingtimeouts",
		"write log, as in log: {to: /var/log/weir.log}":                                                   "access_log error_log accesslog log_format",
		"write log in the route, as in log: {events: off}":                                                "log_skip skip_log",
		"write admin: 127.0.0.1:20001, which has /metrics and /healthz":                                   "stub_status metrics ping stats api monitor_uri dashboard",
		`write listen, as in listen: ":80", and routes with a host, as in match: "example.com/{path...}"`: "server http https apps",
		`write listen, as in listen: ":80"`:                                                               "entrypoints bind http_port port",
		`write tls: {listen: ":443"}`:                                                                     "https_port",
		"write drain, as in drain: {delay: 5s, timeout: 30s}":                                             "grace_period shutdown_delay",
		"write include, as in include: routes/*.yaml":                                                     "import providers",
		"write trusted_proxies, as in trusted_proxies: [10.0.0.0/8]":                                      "set_real_ip_from real_ip_header forwardedheaders client_ip_headers real_ip_recursive",
		"write proxy_protocol, as in proxy_protocol: {from: [10.0.0.0/8]}":                                "proxyprotocol accept_proxy",
		"write dns, as in dns: {servers: [10.0.0.2]}":                                                     "resolver resolvers",
		tlsFiles:                        "ssl_certificate ssl_certificate_key crt_list",
		acme:                            "certificatesresolvers certresolver acme_ca email on_demand_tls",
		"write tls: {min_version: 1.2}": "ssl_protocols",
		"remove it: the ciphers of weir are modern":           "ssl_ciphers ssl_prefer_server_ciphers ssl_dhparam ssl_default_bind_ciphers ssl_session_cache",
		"write tls: {client_certificates: [{roots: ca.pem}]}": "ssl_client_certificate ssl_verify_client passtlsclientcert",
		health: "health_check healthcheck health_uri health_path health_interval health_timeout health_status health_port " +
			"httpchk http_check check inter rise fall",
		outliers:                                "max_fails fail_timeout fail_duration unhealthy_status unhealthy_latency circuitbreaker observe",
		retries:                                 "proxy_next_upstream proxy_next_upstream_tries lb_retries retries retry_on retry",
		"write connect_wait: 1s in an upstream": "lb_try_duration lb_try_interval",
		toTLS:                                   "ssl proxy_ssl_verify proxy_ssl_trusted_certificate tls_trust_pool ca_file crt insecureskipverify tls_insecure_skip_verify verify",
		"write https:// in the URLs of the servers, and tls in the upstream, as in tls: {name: site.internal}": "sni tls_server_name proxy_ssl_name",
		"write tls and protocol in the upstream, as in protocol: http2":                                        "transport serverstransport serverstransports",
		pool:     "max_conns fullconn minconn keepalive_idle_conns",
		balances: "lb_policy least_conn random strategy",
		"write balance: hash and hash: {by: client} in an upstream":                            "ip_hash hash_type",
		"write slow_start: 30s in an upstream":                                                 "slowstart",
		"write send_proxy_protocol: v2 in an upstream":                                         "send_proxy send_proxy_v2",
		"write sticky in an upstream, as in sticky: {cookie: server, secret_file: sticky.key}": "cookie",
		"write protocol: http2 in an upstream":                                                 "http2 alpn proto versions h2c",
		"write servers, as in servers: srv+http://_http._tcp.site.internal":                    "server_template dynamic",
		"write http:// or https:// in the URLs of the servers; see protocol":                   "scheme",
		"names are always resolved again; see dns":                                             "resolve",
		"write it in an element of servers, as in servers: [{url: http://10.0.0.7:8080, weight: 3}, {url: http://10.0.0.8:8080, backup: true}]": "weight backup default_server",
		always: "proxy_http_version proxy_buffering proxy_request_buffering flush_interval sendfile tcp_nopush tcp_nodelay keepalive " +
			"proxy_ssl_server_name http_reuse passhostheader proxy_redirect option zone responseforwarding",
		none: "worker_processes user pid nbthread server_tokens server_names_hash_bucket_size global peers mode persist_config " +
			"experimental charset default_type set internal contenttype proxy_pass_header proxy_cookie_path proxy_cookie_domain daemon",
		missing: "fastcgi_pass uwsgi_pass php_fastcgi templates proxy_cache proxy_cache_path cache tcp udp plugin grpcweb lua agent_check",
		"write upstreams with backup servers, as in servers: [{url: http://a}, {url: http://b, backup: true}]": "failover",
		"write traces at the top, as in traces: {to: \"otlp+http://collector:4318\", sample: 1%}":              "tracing opentelemetry otel_exporter otel_trace",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = hint
		}
	}
	return all
}()

// foreignKeys are the hints for keys of other front doors in mappings below routes, upstreams and others, by their path.
var foreignKeys = func() map[string]string {
	const (
		verified = "servers are always verified; roots names the file with a self-signed certificate"
		silence  = "write silence, as in timeout: {silence: 30s}"
	)
	const (
		matches = `write it in match of the route, as in match: "GET,HEAD example.com/api/{path...}"`
		length  = "write length, as in length: 50"
		wait    = "write wait, as in wait: 1s"
	)
	queue := map[string]string{"size max max_size limit": length, "timeout max_wait": wait}
	rate := map[string]string{"average rate": "write limit, as in limit: 100/s", "period": "write limit, as in limit: 100/m",
		"requests events max": "write limit with its unit, as in limit: 5/s",
		"nodelay delay":       "remove it: requests above the burst are refused at once", "zone": "remove it: each route and each group counts its own requests"}
	return byPath(map[string]map[string]string{
		"limits.queue": queue, "routes.*.limits.queue": queue, "upstreams.*.connections.queue": queue,
		"limits.rate": rate, "routes.*.limits.rate": rate,
		"routes.*.when": {"host hosts path method methods path_beg path_reg path_end hdr_host": matches,
			"src remote_ip client_ip": "write access, as in access: {allow: [10.0.0.0/8]}"},
		"routes.*": {"tls": "write tls at the top of the file, and the host in match"},
		"upstreams.*": {"server": "write servers, as in servers: http://10.0.0.7:8080",
			"loadBalancer": "write servers, as in servers: [http://10.0.0.7:8080, http://10.0.0.8:8080]",
			"to":           "write servers, as in servers: http://10.0.0.7:8080",
			"timeout":      "write timeout in a route, in a group or in defaults, as in timeout: 60s"},
		"routes.*.respond": {"body": "write text, as in respond: {status: 404, text: gone}",
			"code": "write status, as in respond: {status: 404}", "content_type": "write type"},
		"routes.*.redirect": {"code permanent": "write status, as in redirect: {to: /new, status: 301}",
			"url location prefix replacement": "write to, as in redirect: {to: /new}", "scheme": "write tls: {redirect: true} at the top",
			"regex": `write to with parameters of match, as in to: "/new/{id}"`},
		"routes.*.files": {"try_files": "write fallback, as in fallback: /index.html",
			"browse autoindex": "weir does not list folders", "path dir alias": "write root, as in root: public",
			"hide": "remove it: files whose names begin with a dot are never served"},
		"routes.*.forward_auth": {
			"address url": "name an upstream and a path, as in forward_auth: {to: login, path: /verify}",
			"uri":         "write path, as in path: /verify", "copy_headers authResponseHeaders": "write copy, as in copy: [X-User]",
			"authRequestHeaders": "write send, as in send: [Cookie]", "trustForwardHeader": "write trusted_proxies at the top"},
		"routes.*.compress": {"excludedContentTypes includedContentTypes": "write types, as in types: [text/html]",
			"minResponseBodyBytes minimum_length": "write min_length, as in min_length: 1KiB", "algo gzip": "write encodings, as in encodings: [gzip]"},
		"routes.*.access": {"sourceRange": "write allow, as in allow: [10.0.0.0/8]"},
		"routes.*.timeout": {"server read": silence, "client send": "write limits: {client_timeouts: {read: 20s}}",
			"connect": "see connect_wait of an upstream", "tunnel": "remove it: a tunnel has no limit", "request": "write total, as in timeout: {total: 10s}",
			"queue": "see connections of an upstream", "http-request http-keep-alive idle": "write limits: {client_timeouts: {header: 10s, idle: 75s}} at the top"},
		"routes.*.cors":            {"allowed_origins allow_origins accessControlAllowOriginList": "write origins, as in origins: [https://app.example.com]"},
		"routes.*.request_headers": {"delete": "write remove, as in remove: [X-Debug]"},
		"upstreams.*.tls": {
			"verify insecure insecure_skip_verify tls_insecure_skip_verify insecureSkipVerify": verified,
			"server_name serverName sni": "write name", "ca ca_file rootCAs": "write roots"},
		"upstreams.*.health": {"uri": "write path, as in path: /healthz", "fails": "write fall, as in fall: 3",
			"passes": "write rise, as in rise: 2", "inter": "write interval, as in interval: 5s", "expect": "write status, as in status: 200-299"},
		"upstreams.*.retry": {"tries count": "write attempts, as in attempts: 3"},
		"upstreams.*.servers.*": {"address host server": "write url, as in url: http://10.0.0.7:8080",
			"port": "write it in url, as in url: http://10.0.0.7:8080", "down disabled": "remove the server",
			"max_fails fail_timeout": "write outliers in the upstream, as in outliers: {consecutive: 5, ejection: 10s}"},
		"tls": {"protocols minVersion ssl_protocols": "write min_version: 1.2", "ciphers cipherSuites curves": "remove it: the ciphers of weir are modern",
			"cert key crt certFile": "write certificates: [{cert: site.pem, key: site.key}]", "certResolver on_demand internal": "write acme: {domains: [example.com]}",
			"client_auth clientAuth": "write client_certificates: [{roots: ca.pem}]", "options stores": "write their keys in tls itself",
			"dns": `write acme: {dns: {hook: COMMAND}}`},
		"tls.certificates.*": {"certFile crt": "write cert", "keyFile": "write key"},
		"log":                {"output file filePath path": "write to, as in to: /var/log/weir.log"},
	})
}()

// byPath returns the hints for names below paths by the paths of the keys.
func byPath(hints map[string]map[string]string) map[string]string {
	all := make(map[string]string)
	for path, below := range hints {
		for names, hint := range below {
			for name := range strings.FieldsSeq(names) {
				all[path+"."+name] = hint
			}
		}
	}
	return all
}
