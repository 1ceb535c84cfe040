package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// toBoth returns the configuration of traefik for an upstream with both services.
func toBoth(servers, more string) string {
	return "http:\n  routers: {r: {rule: 'PathPrefix(\"/\")', service: u}}\n  services: {u: {loadBalancer: {servers: [" + servers + "]" + more + "}}}\n"
}

// statuses sends n requests at once and counts the responses by status.
func (d *door) statuses(t *testing.T, n int, request string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	var mu sync.Mutex
	var sending sync.WaitGroup
	for range n {
		sending.Go(func() {
			status, _, _ := strings.Cut(d.send(t, request), "\n")
			mu.Lock()
			defer mu.Unlock()
			counts[status]++
		})
	}
	sending.Wait()
	return counts
}

// shares sends 100 requests, of which b has to get about a fifth.
func shares(t *testing.T, d *door) (string, bool) {
	for range 100 {
		if got := d.send(t, "GET /"); !strings.HasPrefix(got, "200") {
			return got, false
		}
	}
	n := d.b.requests.Load()
	return fmt.Sprintf("b gets %d of 100 requests", n), 5 <= n && n <= 40
}

// mirrored reports whether b gets a copy of a request to a.
func mirrored(t *testing.T, d *door) (string, bool) {
	got := d.send(t, "GET /a")
	for deadline := time.Now().Add(patience); d.b.requests.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Sprintf("a gets the request, b %d copies", d.b.requests.Load()),
		strings.Contains(got, "a GET") && d.b.requests.Load() > 0
}

// limitsRate sends 20 requests at once, of which most have to be refused.
func limitsRate(t *testing.T, d *door) (string, bool) {
	counts := d.statuses(t, 20, "GET /")
	return fmt.Sprintf("20 requests at once get %v", counts), counts["200"] > 0 && counts["200"] < 20
}

// limitsInFlight sends requests that take a while: the service must see one at a time.
func limitsInFlight(t *testing.T, d *door) (string, bool) {
	counts := d.statuses(t, 4, "GET /?sleep=300ms")
	most := d.a.most.Load()
	return fmt.Sprintf("4 requests at once get %v, with %d at once in the service", counts, most), most == 1
}

// queues is limitsInFlight without a refused request.
func queues(t *testing.T, d *door) (string, bool) {
	observed, limited := limitsInFlight(t, d)
	return observed, limited && strings.Contains(observed, "map[200:4]")
}

// retries sends requests to an upstream of which one server does not accept connections.
func retries(t *testing.T, d *door) (string, bool) {
	for range 10 {
		if got := d.send(t, "GET /"); !strings.HasPrefix(got, "200") {
			return fmt.Sprintf("a request gets %.3s", got), false
		}
	}
	return "10 requests get 200 while one of two servers is down", true
}

// ejects makes b fail, and reports whether it gets no more requests after some failures.
func ejects(t *testing.T, d *door) (string, bool) {
	d.b.failing.Store(true)
	for range 30 {
		d.send(t, "GET /")
	}
	before := d.b.requests.Load()
	for range 20 {
		d.send(t, "GET /")
	}
	after := d.b.requests.Load() - before
	return fmt.Sprintf("b fails: it gets %d of 30 requests, and %d of the next 20", before, after), before > 0 && after == 0
}

// checks makes b fail and waits until a health check without any request has found it.
func checks(t *testing.T, d *door) (string, bool) {
	d.b.failing.Store(true)
	for deadline := time.Now().Add(patience); d.b.requests.Load() < 6 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if d.b.requests.Load() == 0 {
		return "b gets no checks", false
	}
	failed := 0
	for range 20 {
		if !strings.HasPrefix(d.send(t, "GET /"), "200") {
			failed++
		}
	}
	return fmt.Sprintf("b fails its checks, and %d of 20 requests fail", failed), failed == 0
}

// caches reports whether the second of two requests is not sent to the service.
func caches(t *testing.T, d *door) (string, bool) {
	d.send(t, "GET /.cached")
	got := d.send(t, "GET /.cached")
	n := d.a.requests.Load()
	return fmt.Sprintf("2 requests get %.3s, the service %d", got, n), n == 1 && strings.HasPrefix(got, "200")
}

// upload sends a part of a body every 200 ms for some seconds, and reports whether the program reads all of it. Its
// configuration demands 1 KiB/s, or ends a request after 3 seconds.
func (d *door) upload(t *testing.T, part string, seconds int) (string, bool) {
	c := d.dial(t)
	defer c.Close()
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: %d\r\n\r\n", 10*seconds*len(part))
	ended := make(chan struct{}) // with a response or without one
	go func() {
		c.Read(make([]byte, 1))
		close(ended)
	}()
	for i := range 5 * seconds {
		select {
		case <-ended:
			return fmt.Sprintf("an upload of %d bytes/s ends after %d ms", 5*len(part), 200*i), false
		case <-time.After(200 * time.Millisecond):
			io.WriteString(c, part) // an error ends the reading too
		}
	}
	return fmt.Sprintf("an upload of %d bytes/s is read for %d s", 5*len(part), seconds), true
}

// cutsSlowUpload sends a byte at a time, without a pause that is long.
func cutsSlowUpload(t *testing.T, d *door) (string, bool) {
	observed, read := d.upload(t, "x", 15)
	return observed, !read
}

// readsLongUpload sends 50 kB/s for longer than the deadline.
func readsLongUpload(t *testing.T, d *door) (string, bool) {
	return d.upload(t, strings.Repeat("x", 10_000), 8)
}

// limitedUploads are the configurations that limit how slowly a body may arrive.
var limitedUploads = map[string]configuration{
	weir:    {"{up}\nroutes: [{match: \"/{path...}\", to: a, limits: {upload_rate: 1KiB/s, client_timeouts: {read: 2s}}}]"},
	nginx:   {"client_body_timeout 2s; client_max_body_size 0; proxy_request_buffering off; location / { proxy_pass http://a; }"},
	caddy:   {"reverse_proxy {a}", "servers {\ntimeouts {\nread_body 3s\n}\n}\n"},
	traefik: {"http: {routers: {r: {rule: 'PathPrefix(\"/\")', service: a}}}", "", "transport: {respondingTimeouts: {readTimeout: 3s}}"},
	haproxy: {"option http-buffer-request\n timeout http-request 3s\n default_backend a"},
}

// uploads returns the aspect of an upload that some programs treat as the try says.
func uploads(f try, programs ...string) aspect {
	a := aspect{try: f, evidence: map[string]evidence{}}
	for _, p := range programNames {
		a.evidence[p] = evidence{conf: limitedUploads[p], has: slices.Contains(programs, p)}
	}
	return a
}

var plainTo = map[string]string{
	nginx: "location / { proxy_pass http://u; }", haproxy: "default_backend u",
}

var trafficAspects = map[string]aspect{
	"weights": {
		try: shares,
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", split: [{to: a, weight: 80}, {to: b, weight: 20}]}]"),
			nginx:   has("location / { proxy_pass http://$up; }", "split_clients $request_id $up { 20% b; * a; }"),
			caddy:   has("reverse_proxy {a} {b} {\nlb_policy weighted_round_robin 4 1\n}"),
			traefik: has("http:\n  routers: {r: {rule: 'PathPrefix(\"/\")', service: u}}\n  services: {u: {weighted: {services: [{name: a, weight: 4}, {name: b, weight: 1}]}}}\n"),
			haproxy: has("use_backend b if { rand(100) lt 20 }\n default_backend a"),
		},
	},
	"mirror": {
		try: mirrored,
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, mirror: b}]"),
			nginx:   has("location / { mirror /copy; proxy_pass http://a; } location = /copy { internal; proxy_pass http://b$request_uri; }"),
			caddy:   lacks().by(lists(`http\.handlers\.\w*mirror`)),
			traefik: has("http:\n  routers: {r: {rule: 'PathPrefix(\"/\")', service: u}}\n  services: {u: {mirroring: {service: a, mirrors: [{name: b, percent: 100}]}}}\n"),
			haproxy: documented(false, "https://www.haproxy.com/blog/haproxy-traffic-mirroring-for-real-world-testing"),
		},
	},
	"rate": {
		try: limitsRate,
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, limits: {rate: {per: client, limit: 1/s, burst: 5}}}]"),
			nginx:   has("limit_req zone=z burst=4 nodelay; location / { proxy_pass http://a; }", "limit_req_zone $binary_remote_addr zone=z:1m rate=1r/s;"),
			caddy:   lacks().by(lists(`http\.handlers\.\w*rate\w*`)),
			traefik: has(all("rateLimit: {average: 1, burst: 5}")),
			haproxy: has("stick-table type ip size 1k expire 10s store http_req_rate(10s)\n http-request track-sc0 src\n http-request deny deny_status 429 if { sc_http_req_rate(0) gt 5 }\n default_backend a"),
		},
	},
	"in-flight": {
		try: limitsInFlight,
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, limits: {in_flight: 1}}]"),
			nginx:   has("limit_conn z 1; location / { proxy_pass http://a; }", "limit_conn_zone $server_addr zone=z:1m;"),
			caddy:   has("reverse_proxy {a} {\ntransport http {\nmax_conns_per_host 1\n}\n}"),
			traefik: has(all("inFlightReq: {amount: 1, sourceCriterion: {requestHost: true}}")),
			haproxy: has("default_backend u", "backend u\n server a {a} maxconn 1\n"),
		},
	},
	"queue": {
		try: queues,
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, limits: {in_flight: 1, queue: {length: 10, wait: 10s}}}]"),
			nginx:   lacks("location / { proxy_pass http://u; }", "upstream u { zone u 64k; server {a} max_conns=1; queue 10; }"),
			caddy:   has("reverse_proxy {a} {\ntransport http {\nmax_conns_per_host 1\n}\n}"),
			traefik: lacks(all("inFlightReq: {amount: 1, sourceCriterion: {requestHost: true}}")),
			haproxy: has("default_backend u", "backend u\n timeout queue 10s\n server a {a} maxconn 1\n"),
		},
	},
	"bounded-queue": { // and its length
		try: queues,
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, limits: {in_flight: 1, queue: {length: 10, wait: 10s}}}]"),
			nginx:   lacks("location / { proxy_pass http://u; }", "upstream u { zone u 64k; server {a} max_conns=1; queue 10; }"),
			caddy:   documented(false, "https://caddyserver.com/docs/caddyfile/directives/reverse_proxy#transports"),
			traefik: lacks(all("inFlightReq: {amount: 1, sourceCriterion: {requestHost: true}}")),
			haproxy: has("default_backend u", "backend u\n timeout queue 10s\n server a {a} maxconn 1 maxqueue 10\n"),
		},
	},
	"adaptive": {
		try: lists(`adaptive|aimd|vegas|gradient`),
		evidence: map[string]evidence{
			weir:    has("{up}\nroutes: [{match: \"/{path...}\", to: a, limits: {in_flight: auto}}]").by(accepts),
			nginx:   documented(false, "https://nginx.org/en/docs/dirindex.html"),
			caddy:   lacks().by(lists(`adaptive|aimd|vegas|gradient`)),
			traefik: documented(false, "https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/overview/"),
			haproxy: documented(false, "https://docs.haproxy.org/dev/configuration.html#5.2-minconn"),
		},
	},
	"retries": {
		try: retries,
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"http://{dead}\", \"http://{a}\"]}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   has(plainTo[nginx], "upstream u { server {dead}; server {a}; }"),
			caddy:   has("reverse_proxy {dead} {a} {\nlb_retries 3\nlb_policy round_robin\n}"),
			traefik: has(strings.Replace(toBoth(`{url: "http://{dead}"}, {url: "http://{a}"}`, ""), "service: u}}", "service: u, middlewares: [m]}}\n  middlewares: {m: {retry: {attempts: 3}}}", 1)),
			haproxy: has(plainTo[haproxy], "backend u\n balance roundrobin\n option redispatch 1\n retries 3\n server dead {dead}\n server a {a}\n"),
		},
	},
	"passive": {
		try: ejects,
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"http://{a}\", \"http://{b}\"], outliers: {consecutive: 3, ejection: 60s, status: 500-599}}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   has("location / { proxy_next_upstream error timeout http_503; proxy_pass http://u; }", "upstream u { zone u 64k; server {a}; server {b} max_fails=2 fail_timeout=60s; }"),
			caddy:   has("reverse_proxy {a} {b} {\nlb_policy round_robin\nfail_duration 60s\nmax_fails 2\nunhealthy_status 5xx\n}"),
			traefik: has(toBoth(`{url: "http://{a}"}, {url: "http://{b}"}`, ", passiveHealthCheck: {maxFailedAttempts: 2, failureWindow: 60s}")),
			haproxy: has(plainTo[haproxy], "backend u\n balance roundrobin\n server a {a}\n server b {b} check inter 60s observe layer7 error-limit 2 on-error mark-down\n"),
		},
	},
	"active": {
		try: checks,
		evidence: map[string]evidence{
			weir:    has("upstreams: {u: {servers: [\"http://{a}\", \"http://{b}\"], health: {path: /up, interval: 100ms, fall: 2}}}\nroutes: [{match: \"/{path...}\", to: u}]"),
			nginx:   lacks("location / { proxy_pass http://u; health_check; }", "upstream u { zone u 64k; server {a}; server {b}; }"),
			caddy:   has("reverse_proxy {a} {b} {\nlb_policy round_robin\nhealth_uri /up\nhealth_interval 100ms\n}"),
			traefik: has(toBoth(`{url: "http://{a}"}, {url: "http://{b}"}`, ", healthCheck: {path: /up, interval: 100ms, timeout: 50ms}")),
			haproxy: has(plainTo[haproxy], "backend u\n balance roundrobin\n option httpchk GET /up\n default-server check inter 100ms fall 2\n server a {a}\n server b {b}\n"),
		},
	},
	"cache": {
		try: caches,
		evidence: map[string]evidence{
			weir:    lacks("{up}\nroutes: [{match: \"/{path...}\", to: a, cache: true}]"),
			nginx:   has("location / { proxy_cache c; proxy_cache_valid 200 1m; proxy_pass http://a; }", "proxy_cache_path {dir}/cache keys_zone=c:1m;"),
			caddy:   lacks().by(lists(`http\.handlers\.\w*cache`)),
			traefik: lacks(all("cache: {}")),
			haproxy: has("filter cache c\n http-request cache-use c\n http-response cache-store c\n default_backend a", "cache c\n total-max-size 4\n max-age 60\n"),
		},
	},
	"slow-upload": uploads(cutsSlowUpload, weir, caddy, traefik, haproxy),
	"long-upload": uploads(readsLongUpload, weir, nginx, haproxy),
}
