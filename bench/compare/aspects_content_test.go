package compare

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// all forwards every request to a, with the given middlewares of traefik.
func all(middlewares string) string {
	return "http:\n  routers: {r: {rule: 'PathPrefix(\"/\")', service: a, middlewares: [m]}}\n  middlewares: {m: {" + middlewares + "}}\n"
}

// coded reports whether a response of 14 KB of text has a content coding that the client accepts.
func coded(coding string) try {
	return responds("GET /?size=14000 Accept-Encoding=" + coding + " -> 200; Content-Encoding: " + coding)
}

// compressed are the configurations that compress with every coding that the program knows.
var compressed = map[string]string{
	weir:    "{up}\nroutes: [{match: \"/{path...}\", to: a, compress: true}]",
	nginx:   "gzip on; gzip_types text/plain; location / { proxy_pass http://a; }",
	caddy:   "encode zstd gzip\nreverse_proxy {a}",
	traefik: all("compress: {}"),
	haproxy: "compression algo gzip\n compression type text/plain\n default_backend a",
}

// compression returns the aspect of a content coding.
func compression(coding string, programs ...string) aspect {
	a := aspect{try: coded(coding), evidence: map[string]evidence{}}
	for _, p := range programNames {
		a.evidence[p] = lacks(compressed[p])
	}
	for _, p := range programs {
		a.evidence[p] = has(compressed[p])
	}
	return a
}

var contentAspects = map[string]aspect{
	"files": {
		try: responds("GET /a.txt -> 200; hello from a file", "GET / -> 200; the index", "GET /none -> 404"),
		evidence: map[string]evidence{
			weir:    has("routes: [{match: \"/{path...}\", files: public}]"),
			nginx:   has("root {dir}/public; index index.html;"),
			caddy:   has("root * {dir}/public\nfile_server"),
			traefik: lacks(all("fileServer: {root: public}")),
			haproxy: lacks("http-request return status 200 content-type text/plain file {dir}/public/a.txt if { path /a.txt }"),
		},
	},
	"one-file": {
		try: responds("GET /a.txt -> 200; hello from a file"),
		evidence: map[string]evidence{
			weir:    has("routes: [{match: \"/{path...}\", files: public}]"),
			nginx:   has("root {dir}/public;"),
			caddy:   has("root * {dir}/public\nfile_server"),
			traefik: lacks(all("fileServer: {root: public}")),
			haproxy: has("http-request return status 200 content-type text/plain file {dir}/public/a.txt if { path /a.txt }"),
		},
	},
	"ranges": {
		try: responds("GET /a.txt Range=bytes=0-4 -> 206; \n\nhello"),
		evidence: map[string]evidence{
			weir:    has("routes: [{match: \"/{path...}\", files: public}]"),
			nginx:   has("root {dir}/public;"),
			caddy:   has("root * {dir}/public\nfile_server"),
			traefik: lacks(all("fileServer: {root: public}")),
			haproxy: lacks("http-request return status 200 content-type text/plain file {dir}/public/a.txt if { path /a.txt }"),
		},
	},
	"precompressed": {
		try: responds("GET /a.txt Accept-Encoding=gzip -> 200; Content-Encoding: gzip; precompressed"),
		evidence: map[string]evidence{
			weir:    has("routes: [{match: \"/{path...}\", files: {root: public, precompressed: [gzip]}}]"),
			nginx:   has("root {dir}/public; gzip_static on;"),
			caddy:   has("root * {dir}/public\nfile_server {\nprecompressed gzip\n}"),
			traefik: lacks(all("fileServer: {root: public}")),
			haproxy: lacks("http-request return status 200 content-type text/plain file {dir}/public/a.txt if { path /a.txt }"),
		},
	},
	"gzip": compression("gzip", programNames...),
	"br":   compression("br", weir, traefik),
	"zstd": compression("zstd", weir, caddy, traefik),
	"error-pages": {
		try: responds("GET /?status=404 -> 404; not here, sorry"),
		evidence: map[string]evidence{
			weir:  has("{up}\nroutes: [{match: \"/{path...}\", to: a, error_pages: {404: public/404.html, intercept: true}}]"),
			nginx: has("root {dir}/public; error_page 404 /404.html; location = /404.html { internal; } location / { proxy_intercept_errors on; proxy_pass http://a; }"),
			caddy: has("reverse_proxy {a} {\n@missing status 404\nhandle_response @missing {\nroot * {dir}/public\nrewrite * /404.html\nfile_server {\nstatus 404\n}\n}\n}"),
			traefik: has(`http:
  routers: {r: {rule: 'PathPrefix("/")', service: a, middlewares: [m]}}
  middlewares: {m: {errors: {status: ["404"], service: b, query: "/page"}}}
`).by(responds("GET /?status=404 -> 404; b GET /page")),
			haproxy: has("http-response return status 404 content-type text/html file {dir}/public/404.html if { status 404 }\n default_backend a"),
		},
	},
	"maintenance": {
		try: responds("GET / -> 503; not here, sorry"),
		evidence: map[string]evidence{
			weir:  has("upstreams: {u: {servers: [\"http://{dead}\"], connect_wait: off}}\nroutes: [{match: \"/{path...}\", to: u, maintenance: {page: public/404.html}}]"),
			nginx: has("root {dir}/public; error_page 502 =503 /404.html; location = /404.html { internal; } location / { proxy_pass http://{dead}; }"),
			caddy: has("reverse_proxy {dead}\nhandle_errors {\nroot * {dir}/public\nrewrite * /404.html\nfile_server {\nstatus 503\n}\n}"),
			traefik: has("http:\n  routers: {r: {rule: 'PathPrefix(\"/\")', service: u, middlewares: [m]}}\n" +
				"  middlewares: {m: {errors: {status: [\"502\"], service: b, query: \"/page\", statusRewrites: {\"502\": 503}}}}\n" +
				"  services: {u: {loadBalancer: {servers: [{url: \"http://{dead}\"}]}}}\n").by(responds("GET / -> 503; b GET /page")),
			haproxy: has("default_backend u", "backend u\n http-error status 503 content-type text/html file {dir}/public/404.html\n server u {dead}"),
		},
	},
	"cors": {
		try: responds("GET / Origin=https://app.example -> 200; Access-Control-Allow-Origin: https://app.example; a GET",
			"OPTIONS / Origin=https://app.example Access-Control-Request-Method=PUT -> 20; Access-Control-Allow-Methods"),
		evidence: map[string]evidence{
			weir: has("{up}\nroutes: [{match: \"/{path...}\", to: a, cors: {origins: [\"https://app.example\"], allow_methods: [GET, PUT]}}]"),
			nginx: has(`location / { if ($request_method = OPTIONS) { add_header Access-Control-Allow-Origin $cors; add_header Access-Control-Allow-Methods "GET, PUT"; return 204; }
add_header Access-Control-Allow-Origin $cors; proxy_pass http://a; }`, "map $http_origin $cors { https://app.example $http_origin; }"),
			caddy: has("@cors header Origin https://app.example\nheader @cors Access-Control-Allow-Origin https://app.example\n" +
				"@preflight {\nmethod OPTIONS\nheader Origin https://app.example\n}\nheader @preflight Access-Control-Allow-Methods \"GET, PUT\"\n" +
				"respond @preflight 204\nreverse_proxy {a}"),
			traefik: has(all("headers: {accessControlAllowOriginList: [\"https://app.example\"], accessControlAllowMethods: [GET, PUT]}")),
			haproxy: has("http-request return status 204 hdr Access-Control-Allow-Origin https://app.example hdr Access-Control-Allow-Methods \"GET, PUT\" if METH_OPTIONS\n" +
				" http-response set-header Access-Control-Allow-Origin https://app.example\n default_backend a"),
		},
	},
	"basic-auth": {
		try: responds("GET / -> 401; Www-Authenticate: Basic", "GET / Authorization=Basic_"+annSecret+" -> 200; a GET",
			"GET / Authorization=Basic_YW5uOndyb25n -> 401"),
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, basic_auth: users.htpasswd}]"),
			nginx:   has("auth_basic staff; auth_basic_user_file {dir}/users.htpasswd; location / { proxy_pass http://a; }"),
			caddy:   has("basic_auth {\nann " + annHash + "\n}\nreverse_proxy {a}"),
			traefik: documented(true, "https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/basicauth/"),
			haproxy: has("http-request auth realm staff if !{ http_auth(staff) }\n default_backend a", "userlist staff\n user ann password "+annHash),
		},
	},
	"networks": {
		try: responds("GET / -> 403"),
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, access: {deny: [127.0.0.0/8]}}]"),
			nginx:   has("location / { deny 127.0.0.0/8; proxy_pass http://a; }"),
			caddy:   has("@local remote_ip 127.0.0.0/8\nrespond @local 403\nreverse_proxy {a}"),
			traefik: has(all("ipAllowList: {sourceRange: [10.0.0.0/8]}")),
			haproxy: has("http-request deny if { src 127.0.0.0/8 }\n default_backend a"),
		},
	},
	"forward-auth": {
		try: responds("GET / X-Token=right -> 200; a GET; > X-User: ann", "GET / X-Token=wrong -> 401"),
		evidence: map[string]evidence{
			weir: has("{up}\nroutes: [{match: \"/{path...}\", to: a, forward_auth: {to: b, path: /auth, send: [X-Token], copy: [X-User]}}]"),
			nginx: has(`location / { auth_request /auth; auth_request_set $user $upstream_http_x_user; proxy_set_header X-User $user; proxy_pass http://a; }
location = /auth { internal; proxy_pass http://b; }`),
			caddy:   has("forward_auth {b} {\nuri /auth\ncopy_headers X-User\n}\nreverse_proxy {a}"),
			traefik: has(all("forwardAuth: {address: \"http://{b}/auth\", authResponseHeaders: [X-User]}")),
			haproxy: documented(false, "https://github.com/TimWolla/haproxy-auth-request"),
		},
	},
	"websocket": {
		try: responds("GET /ws Connection=Upgrade Upgrade=websocket Sec-WebSocket-Version=13 Sec-WebSocket-Key=dGhlIHNhbXBsZSBub25jZQ== -> 101"),
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a}]"),
			nginx:   has("location / { proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; proxy_pass http://a; }"),
			caddy:   has("reverse_proxy {a}"),
			traefik: has("http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a}}}"),
			haproxy: has("default_backend a"),
		},
	},
	"proxy-protocol-in": {
		try: fromPROXY,
		evidence: map[string]evidence{
			weir:    has("{up}\nproxy_protocol: {from: [127.0.0.1]}\nroutes: [{match: \"/{path...}\", to: a}]"),
			nginx:   has("listen {secure} proxy_protocol; set_real_ip_from 127.0.0.1; real_ip_header proxy_protocol; location / { proxy_set_header X-Forwarded-For $remote_addr; proxy_pass http://a; }"),
			caddy:   has("reverse_proxy {a}", "servers {\nlistener_wrappers {\nproxy_protocol {\nallow 127.0.0.1/32\n}\n}\n}\n"),
			traefik: has("http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a}}}", "", "proxyProtocol: {trustedIPs: [127.0.0.1]}"),
			haproxy: has("bind {secure} accept-proxy\n option forwardfor\n default_backend a"),
		},
	},
	"proxy-protocol-out": {
		try: toPROXY,
		evidence: map[string]evidence{
			weir:  has("upstreams: {u: {servers: [\"http://{other}\"], send_proxy_protocol: v1}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx: documented(false, "https://nginx.org/en/docs/stream/ngx_stream_proxy_module.html#proxy_protocol"),
			caddy: has("reverse_proxy {other} {\ntransport http {\nproxy_protocol v1\n}\n}"),
			traefik: documented(false,
				"https://doc.traefik.io/traefik/reference/routing-configuration/tcp/serverstransport/"),
			haproxy: has("default_backend u", "backend u\n server u {other} send-proxy"),
		},
	},
}

// annHash is the hash of the password of ann, and annSecret her credentials.
const (
	annHash   = "$2b$10$kKWIvkuSDp2NZ2qGKA88xeoODkC4ukVc/FFZbD8TrOfyRtmLv1zUK"
	annSecret = "YW5uOnNlY3JldA=="
)

// fromPROXY sends a request after a header of the PROXY protocol. The listener is that of {listen} or {secure}.
func fromPROXY(t *testing.T, d *door) (string, bool) {
	for _, addr := range []string{d.secure, d.listen} {
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			continue
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		fmt.Fprint(c, "PROXY TCP4 192.0.2.7 192.0.2.1 4000 80\r\n")
		got := exchange(c, "GET /")
		return "the service gets X-Forwarded-For 192.0.2.7", strings.Contains(got, "> X-Forwarded-For: 192.0.2.7")
	}
	return "no listener", false
}

// toPROXY is a service that reads the first line of a connection.
func toPROXY(t *testing.T, d *door) (string, bool) {
	l, err := net.Listen("tcp", d.other)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first := make(chan string, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			line, _ := in.ReadString('\n')
			select {
			case first <- strings.TrimSpace(line):
			default:
			}
			http.ReadRequest(in)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			c.Close()
		}
	}()
	d.send(t, "GET /")
	select {
	case line := <-first:
		return "the service reads " + line, strings.HasPrefix(line, "PROXY TCP4 127.0.0.1")
	case <-time.After(patience):
		return "no connection", false
	}
}
