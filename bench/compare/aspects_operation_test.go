package compare

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/certtest"
)

// one forwards all requests to a.
var one = map[string]string{
	weir:    "{up}\nroutes: [{match: \"/{path...}\", to: a}]\n",
	nginx:   "location / { proxy_pass http://a; }",
	caddy:   "reverse_proxy {a}",
	traefik: "http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a}}}\n",
	haproxy: "default_backend a",
}

// scrapes reports whether a response contains a metric in the format of Prometheus.
func scrapes(request string, admin bool) try {
	return func(t *testing.T, d *door) (string, bool) {
		d.send(t, "GET /a")
		addr := d.listen
		if admin {
			addr = d.admin
		}
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			return err.Error(), false
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		got := exchange(c, request+" Host="+addr)
		line := regexp.MustCompile(`(?m)^# TYPE .*$`).FindString(got)
		return "GET /metrics has " + line, line != ""
	}
}

// finds checks a configuration with two mistakes, and reports whether the program names both.
func finds(one, other string) try {
	return func(t *testing.T, d *door) (string, bool) {
		out := d.checkOutput(t)
		return fmt.Sprintf("names %s: %t, %s: %t", one, strings.Contains(out, one), other, strings.Contains(out, other)),
			strings.Contains(out, one) && strings.Contains(out, other)
	}
}

// mistakes writes a configuration with two mistakes in two lines, which the program only checks.
func mistakes(c configuration, f try) try {
	return func(t *testing.T, d *door) (string, bool) {
		d.write(t, c)
		return f(t, d)
	}
}

// points reports whether the check of a mistake names the number of the line and of the column.
func points(pattern string) try {
	p := regexp.MustCompile(pattern)
	return func(t *testing.T, d *door) (string, bool) {
		found := p.FindString(d.checkOutput(t))
		return "writes " + found, found != ""
	}
}

// explains reports whether the program says which route a request has.
func explains(t *testing.T, d *door) (string, bool) {
	d.write(t, configuration{one[weir]})
	cmd := exec.Command(d.path, "check", d.file, "--explain", "GET http://example.com/x")
	cmd.Dir = d.dir
	out, _ := cmd.CombinedOutput()
	return fmt.Sprintf("%.40q", out), strings.Contains(string(out), "/{path...}")
}

// reloads sends requests on new connections while the program reads its configuration again, by a command, a signal
// (SIGUSR2), or without being told (""). With the second configuration, requests go to b. At most lost requests of 1,000
// may fail.
func reloads(second configuration, lost int64, command string) try {
	return func(t *testing.T, d *door) (string, bool) {
		load := d.startLoad(t)
		d.write(t, second)
		if !strings.HasPrefix(command, "SIG") && command != "" {
			cmd := exec.Command(d.path, strings.Fields(d.names.Replace(command))...)
			cmd.Dir, cmd.Env = d.dir, d.environment()
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Sprintf("%v: %s", err, out), false
			}
		}
		for deadline := time.Now().Add(patience); d.b.requests.Load() == 0 && time.Now().Before(deadline); {
			switch command { // again, because a program that has just started may ignore a signal
			case "SIGHUP":
				d.cmd.Process.Signal(syscall.SIGHUP)
			case "SIGUSR2":
				d.cmd.Process.Signal(syscall.SIGUSR2)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(500 * time.Millisecond) // while the old workers end
		sent, failed, failure := load()
		return fmt.Sprintf("%d requests, %d failed (%.60q), %d of them to the new upstream", sent, failed, failure, d.b.requests.Load()),
			1000*failed <= sent*lost && d.b.requests.Load() > 0
	}
}

// replaces starts a second process at the same address, ends the first one, and reports whether all requests get a
// response. The two share the address with SO_REUSEPORT. At most lost requests of 1,000 may fail.
func replaces(lost int64) try {
	return func(t *testing.T, d *door) (string, bool) {
		second := *d
		second.dir, second.output = filepath.Join(d.dir, "second"), &output{}
		for _, name := range []string{d.file, "dynamic/services.yaml", "dynamic/aspect.yaml"} {
			if text, err := os.ReadFile(filepath.Join(d.dir, name)); err == nil {
				second.save(t, name, strings.ReplaceAll(string(text), d.admin, d.other))
			}
		}
		load := d.startLoad(t)
		second.start(t)
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if c, err := net.Dial("tcp", d.other); err == nil {
				c.Close()
				break
			}
		}
		time.Sleep(2 * time.Second) // until it has read all files
		d.cmd.Process.Signal(syscall.SIGTERM)
		<-d.ended
		sent, failed, failure := load()
		status := d.send(t, "GET /")
		return fmt.Sprintf("%d requests, %d failed (%.60q), then %.3s from the second process", sent, failed, failure, status),
			1000*failed <= sent*lost && strings.HasPrefix(status, "200")
	}
}

// startLoad sends requests on new connections until its result is called, which returns the number of requests and of
// those that failed, with the last failure.
func (d *door) startLoad(t *testing.T) (end func() (sent, failed int64, failure string)) {
	ctx, cancel := context.WithCancel(t.Context())
	var sent, failed atomic.Int64
	failure := ""
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			sent.Add(1)
			c, err := net.DialTimeout("tcp", d.listen, patience)
			if err != nil {
				failed.Add(1)
				failure = err.Error()
				continue
			}
			c.SetDeadline(time.Now().Add(patience))
			if got := exchange(c, "GET /"); !strings.HasPrefix(got, "200") {
				failed.Add(1)
				failure = got
			}
			c.Close()
		}
	}()
	return func() (int64, int64, string) {
		cancel()
		<-done
		return sent.Load(), failed.Load(), failure
	}
}

// get requests {secure} over HTTPS with the client's certificate, if it is not nil.
func (d *door) get(t *testing.T, client *certtest.Pair, http2 bool) (*http.Response, error) {
	config := &tls.Config{RootCAs: d.ca.Pool(), ServerName: "shop.example"}
	if client != nil {
		config.Certificates = []tls.Certificate{*client.TLS()}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, d.secure)
		}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "https://shop.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	return resp, err
}

// servesHTTP2 requests the secure listener over HTTP/2.
func servesHTTP2(t *testing.T, d *door) (string, bool) {
	resp, err := d.get(t, nil, true)
	if err != nil {
		return err.Error(), false
	}
	return fmt.Sprint(resp.Proto, " ", resp.Status), resp.ProtoMajor == 2 && resp.StatusCode == 200
}

// demandsCertificate requests the secure listener with and without a certificate.
func demandsCertificate(t *testing.T, d *door) (string, bool) {
	client := d.ca.Issue(t, certtest.Options{Name: "ann", Client: true, NoHosts: true})
	with, err := d.get(t, client, false)
	if err != nil || with.StatusCode != 200 {
		return fmt.Sprint("with a certificate: ", with, err), false
	}
	without, err := d.get(t, nil, false)
	return fmt.Sprint("200 with a certificate, without one: ", err), err != nil || without.StatusCode >= 400
}

// secured are the configurations with TLS.
var secured = map[string]configuration{
	weir:  {one[weir] + "tls: {listen: \"{secure}\", certificates: {cert: site.pem, key: site.key}}\n"},
	nginx: {one[nginx] + " listen {secure} ssl http2; ssl_certificate {dir}/site.pem; ssl_certificate_key {dir}/site.key;"},
	caddy: {one[caddy], "", "https://shop.example:{securePort} {\nbind 127.0.0.1\ntls {dir}/site.pem {dir}/site.key\nreverse_proxy {a}\n}\n"},
	traefik: {"http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a, entryPoints: [web]}, s: {rule: 'PathPrefix(\"/\")', service: a, entryPoints: [secure], tls: {}}}}\n" +
		"tls: {certificates: [{certFile: site.pem, keyFile: site.key}]}\n", "", "}, secure: {address: \"{secure}\""},
	haproxy: {"bind {secure} ssl crt {dir}/both.pem alpn h2,http/1.1\n default_backend a"},
}

// verified are the configurations that also require a client's certificate.
var verified = map[string]configuration{
	weir:  {strings.Replace(secured[weir][0], "key: site.key}", "key: site.key}, client_certificates: [{hosts: [shop.example], roots: ca.pem}]", 1)},
	nginx: {secured[nginx][0] + " ssl_client_certificate {dir}/ca.pem; ssl_verify_client on;"},
	caddy: {one[caddy], "", strings.Replace(secured[caddy][2], "site.key", "site.key {\nclient_auth {\nmode require_and_verify\ntrust_pool file {dir}/ca.pem\n}\n}", 1)},
	traefik: {strings.NewReplacer("'PathPrefix(\"/\")', service: a, entryPoints: [secure]", "'Host(\"shop.example\")', service: a, entryPoints: [secure]",
		"tls: {}", "tls: {options: m}", "keyFile: site.key}]",
		"keyFile: site.key}], options: {m: {clientAuth: {caFiles: [ca.pem], clientAuthType: RequireAndVerifyClientCert}}}").
		Replace(secured[traefik][0]), "", secured[traefik][2]},
	haproxy: {strings.Replace(secured[haproxy][0], "alpn", "ca-file {dir}/ca.pem verify required alpn", 1)},
}

// fromFastCGI reports whether the program gets a response from a FastCGI service.
func fromFastCGI(t *testing.T, d *door) (string, bool) {
	l, err := net.Listen("tcp", d.other)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go fcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from FastCGI") }))
	got := d.send(t, "GET /index.php")
	return fmt.Sprintf("%.3s", got), strings.HasPrefix(got, "200") && strings.Contains(got, "from FastCGI")
}

// passesTCP sends bytes that are no HTTP to {secure} and reads them back from a service that repeats them.
func passesTCP(t *testing.T, d *door) (string, bool) {
	l, err := net.Listen("tcp", d.other)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 4)
			n, _ := c.Read(b)
			c.Write(b[:n])
			c.Close()
		}
	}()
	c, err := net.DialTimeout("tcp", d.secure, patience)
	if err != nil {
		return err.Error(), false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(c, "\x00\x01\x02\x03")
	b := make([]byte, 4)
	n, _ := c.Read(b)
	return fmt.Sprintf("%d bytes come back", n), n == 4
}

// counts reports whether a number of policies for the choice of a server are accepted, each in a configuration of its own.
func counts(want int, policies []string, with func(policy string) configuration) try {
	return func(t *testing.T, d *door) (string, bool) {
		accepted := []string{}
		for _, p := range policies {
			d.write(t, with(p))
			if d.checked(t) == "" {
				accepted = append(accepted, p)
			}
		}
		return fmt.Sprintf("accepts %d: %s", len(accepted), strings.Join(accepted, ", ")), len(accepted) == want
	}
}

// policies are the ways in which the programs choose a server, in the words of their configurations, and a configuration
// with one of them.
var policies = map[string]struct {
	names []string
	with  func(policy string) configuration
}{
	nginx: {[]string{"", "ip_hash;", "least_conn;", "hash $request_uri;", "random;", "random two least_conn;"},
		func(p string) configuration {
			return configuration{plainTo[nginx], "upstream u { " + p + " server {a}; server {b}; }"}
		}},
	caddy: {[]string{"random", "random_choose 2", "round_robin", "weighted_round_robin 1 2", "least_conn", "first", "ip_hash",
		"client_ip_hash", "uri_hash", "query q", "header X", "cookie c"},
		func(p string) configuration { return configuration{"reverse_proxy {a} {b} {\nlb_policy " + p + "\n}"} }},
	haproxy: {[]string{"roundrobin", "static-rr", "leastconn", "first", "source", "uri", "url_param q", "hdr(X)", "random", "random(2)", "rdp-cookie(c)"},
		func(p string) configuration {
			return configuration{plainTo[haproxy], "backend u\n balance " + p + "\n server a {a}\n server b {b}\n"}
		}},
	weir: {[]string{"round_robin", "least_connections", "two_choices", "hash"}, func(p string) configuration {
		if p == "hash" {
			p += ", hash: {by: client}"
		}
		return configuration{"upstreams: {u: {servers: [\"http://{a}\", \"http://{b}\"], balance: " + p + "}}\nroutes: [{match: \"/{path...}\", to: u}]"}
	}},
}

// chooses is the evidence of a number of policies.
func chooses(program string, n int) evidence {
	p := policies[program]
	return evidence{has: true, try: counts(n, p.names, p.with)}
}

// nothing is the try of an aspect whose evidence has tries of its own, or cites documents.
var nothing = accepts

var operationAspects = map[string]aspect{
	"metrics": {
		try: scrapes("GET /metrics", true),
		evidence: map[string]evidence{
			weir:    has(one[weir]),
			nginx:   lacks("stub_status; location / { proxy_pass http://a; } location = /metrics { stub_status; }").by(scrapes("GET /metrics", false)),
			caddy:   has(one[caddy], "metrics\n"),
			traefik: has(one[traefik], "metrics: {prometheus: {entryPoint: admin}}\n"),
			haproxy: has("http-request use-service prometheus-exporter if { path /metrics }\n default_backend a").by(scrapes("GET /metrics", false)),
		},
	},
	"all-mistakes": {
		try: finds("no-such-one", "no-such-two"),
		evidence: map[string]evidence{
			weir:    {has: true, try: mistakes(configuration{one[weir] + "no-such-one: 1\nno-such-two: 2\n"}, finds("no-such-one", "no-such-two"))},
			nginx:   {try: mistakes(configuration{"no-such-one;\nno-such-two;"}, finds("no-such-one", "no-such-two"))},
			caddy:   {try: mistakes(configuration{"no-such-one\nno-such-two"}, finds("no-such-one", "no-such-two"))},
			traefik: {try: mistakes(configuration{all("no-such-one: {}, no-such-two: {}")}, finds("no-such-one", "no-such-two"))},
			haproxy: {has: true, try: mistakes(configuration{"no-such-one\n no-such-two"}, finds("no-such-one", "no-such-two"))},
		},
	},
	"lines": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    {has: true, try: mistakes(configuration{one[weir] + "no-such-one: 1\n"}, points(`weir.yaml:6:1`))},
			nginx:   {has: true, try: mistakes(configuration{"no-such-one;"}, points(`nginx.conf:\d+`))},
			caddy:   {has: true, try: mistakes(configuration{"no-such-one"}, points(`Caddyfile:\d+`))},
			traefik: {try: mistakes(configuration{all("no-such-one: {}")}, points(`line \d+|yaml:\d+`))},
			haproxy: {has: true, try: mistakes(configuration{"no-such-one"}, points(`haproxy.cfg:\d+`))},
		},
	},
	"columns": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    {has: true, try: mistakes(configuration{one[weir] + "no-such-one: 1\n"}, points(`weir.yaml:6:1`))},
			nginx:   {try: mistakes(configuration{"no-such-one;"}, points(`nginx.conf:\d+:\d+`))},
			caddy:   {try: mistakes(configuration{"no-such-one"}, points(`Caddyfile:\d+:\d+`))},
			traefik: {try: mistakes(configuration{all("no-such-one: {}")}, points(`line \d+|yaml:\d+`))},
			haproxy: {try: mistakes(configuration{"no-such-one"}, points(`haproxy.cfg:\d+:\d+`))},
		},
	},
	"explain": {
		try: explains,
		evidence: map[string]evidence{
			weir:    {has: true, try: explains},
			nginx:   documented(false, "https://nginx.org/en/docs/switches.html"),
			caddy:   documented(false, "https://caddyserver.com/docs/command-line"),
			traefik: documented(false, "https://doc.traefik.io/traefik/reference/install-configuration/api-dashboard/"),
			haproxy: documented(false, "https://docs.haproxy.org/dev/management.html#3"),
		},
	},
	"load-generator": {
		try: lists(`load compare|lab run`),
		evidence: map[string]evidence{
			weir:    {has: true, try: lists(`lab run`)},
			nginx:   documented(false, "https://nginx.org/en/docs/switches.html"),
			caddy:   documented(false, "https://caddyserver.com/docs/command-line"),
			traefik: lacks().by(lists(`(?i)load generator|benchmark`)),
			haproxy: documented(false, "https://docs.haproxy.org/dev/management.html#3"),
		},
	},
	"reload": {
		try: nothing,
		evidence: map[string]evidence{
			weir:  has(one[weir]).by(reloads(configuration{strings.Replace(one[weir], "to: a", "to: b", 1)}, 0, "SIGHUP")),
			nginx: has(one[nginx]).by(reloads(configuration{"location / { proxy_pass http://b; }"}, 0, "SIGHUP")),
			caddy: has(one[caddy]).by(reloads(configuration{"reverse_proxy {b}"}, 10,
				"reload --adapter caddyfile --config Caddyfile --address {admin}")),
			traefik: has(one[traefik]).by(reloads(configuration{strings.Replace(one[traefik], "service: a", "service: b", 1)}, 0, "")),
			haproxy: has(one[haproxy]).by(reloads(configuration{"default_backend b"}, 0, "SIGUSR2")),
		},
	},
	"upgrade": { // of the binary
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../cmd/weir/upgrade_linux_test.go"),
			nginx:   documented(true, "https://nginx.org/en/docs/control.html#upgrade"),
			caddy:   has(one[caddy]).by(replaces(10)),
			traefik: lacks(one[traefik], "", "reusePort: true").by(replaces(0)),                      // it accepts before it has its routes
			haproxy: has(one[haproxy]).by(reloads(configuration{"default_backend b"}, 0, "SIGUSR2")), // the master executes the binary again
		},
	},
	"includes": { // one configuration from many files
		try: responds("GET /a -> 200; a GET"),
		evidence: map[string]evidence{
			weir:    has("include: more/*.yaml\n{up}\nroutes: [{match: /x, to: b}]"),
			nginx:   has("include {dir}/more/*.conf;"),
			caddy:   has("import more/*.caddy"),
			traefik: has("http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a}}}"), // dynamic/ is a folder
			haproxy: documented(true, "https://docs.haproxy.org/2.6/management.html#3"),
		},
	},
	"tls": {
		try: func(t *testing.T, d *door) (string, bool) {
			resp, err := d.get(t, nil, false)
			if err != nil {
				return err.Error(), false
			}
			return resp.Status, resp.StatusCode == 200
		},
		evidence: map[string]evidence{weir: has(secured[weir]...), nginx: has(secured[nginx]...), caddy: has(secured[caddy]...),
			traefik: has(secured[traefik]...), haproxy: has(secured[haproxy]...)},
	},
	"http2": {
		try: servesHTTP2,
		evidence: map[string]evidence{weir: has(secured[weir]...), nginx: has(secured[nginx]...), caddy: has(secured[caddy]...),
			traefik: has(secured[traefik]...), haproxy: has(secured[haproxy]...)},
	},
	"http3": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../cmd/weir/http3_linux_test.go"),
			nginx:   documented(true, "https://nginx.org/en/docs/http/ngx_http_v3_module.html"),
			caddy:   has(secured[caddy]...).by(logs(`"protocols":\[[^]]*"h3"`)),
			traefik: documented(true, "https://doc.traefik.io/traefik/reference/install-configuration/entrypoints/"),
			haproxy: documented(true, "https://docs.haproxy.org/2.6/configuration.html#3.1-quic"),
		},
	},
	"acme": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../front/acme_test.go"),
			nginx:   documented(false, "https://nginx.org/en/docs/http/ngx_http_acme_module.html"),
			caddy:   {has: true, try: lists(`tls\.issuance\.acme`)},
			traefik: {has: true, try: lists(`certificatesresolvers\.<name>\.acme`)},
			haproxy: documented(true, "https://docs.haproxy.org/3.2/configuration.html#12.8"),
		},
	},
	"client-certificates": {
		try: demandsCertificate,
		evidence: map[string]evidence{weir: has(verified[weir]...), nginx: has(verified[nginx]...), caddy: has(verified[caddy]...),
			traefik: has(verified[traefik]...), haproxy: has(verified[haproxy]...)},
	},
	"upstream-http2": {
		try: responds("GET / -> 200; HTTP/2.0"),
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"http://{a}\"], protocol: http2}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   documented(true, "https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_http_version"),
			caddy:   has("reverse_proxy h2c://{a}"),
			traefik: has(toBoth(`{url: "h2c://{a}"}`, "")),
			haproxy: has(plainTo[haproxy], "backend u\n server a {a} proto h2\n"),
		},
	},
	"upstream-tls": {
		try: responds("GET / -> 200; over TLS"),
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"https://{tls}\"], tls: {roots: ca.pem}}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   has("location / { proxy_ssl_verify on; proxy_ssl_trusted_certificate {dir}/ca.pem; proxy_ssl_name localhost; proxy_pass https://{tls}; }"),
			caddy:   has("reverse_proxy https://{tls} {\ntransport http {\ntls_trust_pool file {dir}/ca.pem\ntls_server_name localhost\n}\n}"),
			traefik: has(strings.Replace(toBoth("{url: \"https://{tls}\"}", ", serversTransport: m"), "services:", "serversTransports: {m: {rootCAs: [ca.pem], serverName: localhost}}\n  services:", 1)),
			haproxy: has(plainTo[haproxy], "backend u\n server a {tls} ssl verify required ca-file {dir}/ca.pem verifyhost localhost sni str(localhost)\n"),
		},
	},
	"upstream-unix": {
		try: responds("GET / -> 200; over a socket"),
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"unix:{dir}/service.sock\"]}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   has("location / { proxy_pass http://unix:{dir}/service.sock; }"),
			caddy:   has("reverse_proxy unix/{dir}/service.sock"),
			traefik: lacks(toBoth("{url: \"unix://{dir}/service.sock\"}", "")),
			haproxy: has(plainTo[haproxy], "backend u\n server a unix@{dir}/service.sock\n"),
		},
	},
	"upstream-grpc": { // a test of cmd/weir runs examples/moving/grpc with the peers of Debian
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../cmd/weir/movinggrpc_test.go"),
			nginx:   documented(true, "../../cmd/weir/movinggrpc_test.go"),
			caddy:   documented(true, "../../cmd/weir/movinggrpc_test.go"),
			traefik: documented(true, "https://doc.traefik.io/traefik/user-guides/grpc/"),
			haproxy: documented(true, "../../cmd/weir/movinggrpc_test.go"),
		},
	},
	"passive-latency": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"http://{a}\", \"http://{b}\"], outliers: {latency: 5}}}\nroutes: [{match: \"/{path...}\", to: u}]").by(accepts),
			nginx:   documented(false, "https://nginx.org/en/docs/http/ngx_http_upstream_module.html#max_fails"),
			caddy:   has("reverse_proxy {a} {b} {\nfail_duration 30s\nunhealthy_latency 1s\n}").by(accepts),
			traefik: lacks(toBoth("{url: \"http://{a}\"}", ", passiveHealthCheck: {maxLatency: 1s}")),
			haproxy: documented(false, "https://docs.haproxy.org/dev/configuration.html#5.2-observe"),
		},
	},
	"signed-cookie": { // of a client's server
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../front/serversticky_test.go"),
			nginx:   documented(false, "https://nginx.org/en/docs/http/ngx_http_upstream_module.html#sticky"),
			caddy:   has("reverse_proxy {a} {b} {\nlb_policy cookie c secret\n}").by(responds("GET / -> 200; Set-Cookie: c=")),
			traefik: documented(false, "https://doc.traefik.io/traefik/reference/routing-configuration/http/load-balancing/service/"),
			haproxy: documented(false, "https://docs.haproxy.org/dev/configuration.html#4.2-cookie"),
		},
	},
	"names": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../front/internal/names/names_test.go"),
			nginx:   documented(true, "https://nginx.org/en/docs/http/ngx_http_upstream_module.html#resolve"),
			caddy:   {has: true, try: lists(`http\.reverse_proxy\.upstreams\.a`)},
			traefik: documented(false, "https://doc.traefik.io/traefik/reference/routing-configuration/http/load-balancing/service/"),
			haproxy: has(plainTo[haproxy], "resolvers dns\n nameserver one 127.0.0.1:53\nbackend u\n server-template s 3 a.internal:80 resolvers dns init-addr none\n").by(accepts),
		},
	},
	"srv": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../front/internal/names/names_test.go"),
			nginx:   documented(true, "https://nginx.org/en/docs/http/ngx_http_upstream_module.html#service"),
			caddy:   {has: true, try: lists(`http\.reverse_proxy\.upstreams\.srv`)},
			traefik: documented(false, "https://doc.traefik.io/traefik/reference/routing-configuration/http/load-balancing/service/"),
			haproxy: has(plainTo[haproxy], "resolvers dns\n nameserver one 127.0.0.1:53\nbackend u\n server-template s 3 _http._tcp.a.internal resolvers dns init-addr none\n").by(accepts),
		},
	},
	"policies": { // the number of them in the cell
		try: nothing,
		evidence: map[string]evidence{weir: chooses(weir, 4), nginx: chooses(nginx, 6), caddy: chooses(caddy, 12), haproxy: chooses(haproxy, 11),
			traefik: documented(true, "https://doc.traefik.io/traefik/reference/routing-configuration/http/load-balancing/service/")},
	},
	"fastcgi": {
		try: fromFastCGI,
		evidence: map[string]evidence{
			weir:    lacks("upstreams: {u: {servers: [\"fastcgi://{other}\"]}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   has("location / { fastcgi_pass {other}; fastcgi_param REQUEST_METHOD $request_method; fastcgi_param SERVER_PROTOCOL $server_protocol; fastcgi_param REQUEST_URI $request_uri; }"),
			caddy:   has("php_fastcgi {other} {\ntry_files {path}\n}"),
			traefik: lacks(toBoth(`{url: "fastcgi://{other}"}`, "")),
			haproxy: has("default_backend u", "fcgi-app f\n docroot /srv\n index index.php\nbackend u\n use-fcgi-app f\n server a {other} proto fcgi\n"),
		},
	},
	"tcp": {
		try: passesTCP,
		evidence: map[string]evidence{
			weir:    lacks(one[weir] + "tcp: {listen: \"{secure}\", to: \"{other}\"}\n"),
			nginx:   documented(true, "https://nginx.org/en/docs/stream/ngx_stream_proxy_module.html"),
			caddy:   lacks().by(lists(`layer4`)),
			traefik: has("http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a, entryPoints: [web]}}}\ntcp: {routers: {r: {rule: 'HostSNI(\"*\")', service: t, entryPoints: [secure]}}, services: {t: {loadBalancer: {servers: [{address: \"{other}\"}]}}}}", "", "}, secure: {address: \"{secure}\""),
			haproxy: has("default_backend a", "listen t\n mode tcp\n bind {secure}\n server t {other}\n"),
		},
	},
	"udp": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    lacks(one[weir] + "udp: {listen: \"{secure}\", to: \"{other}\"}\n"),
			nginx:   documented(true, "https://nginx.org/en/docs/stream/ngx_stream_core_module.html#listen"),
			caddy:   lacks().by(lists(`layer4`)),
			traefik: has("http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a, entryPoints: [web]}}}\nudp: {routers: {r: {service: t, entryPoints: [secure]}}, services: {t: {loadBalancer: {servers: [{address: \"{other}\"}]}}}}", "", "}, secure: {address: \"{secure}/udp\"").by(accepts),
			haproxy: documented(false, "https://docs.haproxy.org/dev/configuration.html#4-mode"),
		},
	},
	"shared-limits": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../front/sharedlimits_test.go"),
			nginx:   documented(false, "https://nginx.org/en/docs/stream/ngx_stream_zone_sync_module.html"),
			caddy:   lacks().by(lists(`http\.handlers\.\w*rate\w*`)),
			traefik: has(all("rateLimit: {average: 1, burst: 5, redis: {endpoints: [\"{other}\"]}}")).by(accepts),
			haproxy: documented(false, "https://www.haproxy.com/documentation/haproxy-enterprise/enterprise-modules/global-profiling-engine/"),
		},
	},
	"discovery": { // beyond the DNS
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../front/internal/names/names_test.go"),
			nginx:   documented(false, "https://nginx.org/en/docs/http/ngx_http_api_module.html"),
			caddy:   lacks().by(lists(`http\.reverse_proxy\.upstreams\.(docker|consul|kubernetes)`)),
			traefik: {has: true, try: lists(`providers\.(docker|consul|kubernetes)\w*`)},
			haproxy: documented(false, "https://docs.haproxy.org/dev/configuration.html#5.3"),
		},
	},
	"jwt": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    lacks("{up}\nroutes: [{match: \"/{path...}\", to: a, jwt: {key: site.pem}}]"),
			nginx:   lacks("auth_jwt staff; location / { proxy_pass http://a; }"),
			caddy:   lacks().by(lists(`jwt|oidc|oauth`)),
			traefik: lacks(all("jwt: {signingSecret: x}")),
			haproxy: {has: true, try: lists(`jwt_header_query`)},
		},
	},
	"scripts": {
		try: nothing,
		evidence: map[string]evidence{
			weir:    lacks("{up}\nroutes: [{match: \"/{path...}\", to: a, script: x.lua}]"),
			nginx:   {has: true, try: lists(`http_perl_module=dynamic`)},
			caddy:   documented(true, "https://caddyserver.com/docs/extending-caddy"),
			traefik: {has: true, try: lists(`experimental\.(local)?plugins`)},
			haproxy: {has: true, try: lists(`lua-load`)},
		},
	},
	"log-bounded": { // a log that cannot be written does not stop requests
		try: nothing,
		evidence: map[string]evidence{
			weir:    documented(true, "../../cmd/weir/stalled_log_test.go"),
			nginx:   documented(false, "https://nginx.org/en/docs/http/ngx_http_log_module.html"),
			caddy:   documented(false, "https://caddyserver.com/docs/caddyfile/directives/log#output-modules"),
			traefik: documented(false, "https://doc.traefik.io/traefik/reference/install-configuration/observability/logs-and-accesslogs/"),
			haproxy: has(one[haproxy]).by(countsLost),
		},
	},
}

// logs reports whether the program writes an expression.
func logs(pattern string) try {
	p := regexp.MustCompile(pattern)
	return func(t *testing.T, d *door) (string, bool) {
		found := ""
		for deadline := time.Now().Add(patience); found == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			found = p.FindString(d.output.String())
		}
		return "writes " + found, found != ""
	}
}

// countsLost asks HAProxy for its count of log lines that it has dropped.
func countsLost(t *testing.T, d *door) (string, bool) {
	c, err := net.Dial("unix", d.dir+"/haproxy.sock")
	if err != nil {
		return err.Error(), false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(c, "show info\n")
	b := make([]byte, 32<<10)
	n, _ := c.Read(b)
	line := regexp.MustCompile(`DroppedLogs: \d+`).FindString(string(b[:n]))
	return "show info has " + line, line != ""
}
