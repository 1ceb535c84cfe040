package compare

import "maps"

// aspects returns all aspects by name.
func aspects() map[string]aspect {
	all := map[string]aspect{}
	for _, group := range []map[string]aspect{routeAspects, contentAspects, trafficAspects, operationAspects} {
		maps.Copy(all, group)
	}
	return all
}

var routeAspects = map[string]aspect{
	"routes": {
		try: responds("GET /api/x Host=one.example -> 200; b GET", "POST /api/x Host=one.example -> 200; a POST",
			"GET /other Host=one.example -> 200; a GET", "GET /api/x Host=two.example -> 200; a GET"),
		evidence: map[string]evidence{
			weir: has(`{up}
routes:
- {match: "GET one.example/api/{path...}", to: b}
- {match: "one.example/api/{path...}", to: a}
- {match: "/{path...}", to: a}`),
			nginx: has(`server_name one.example;
location / { proxy_pass http://a; }
location /api/ { if ($request_method = GET) { proxy_pass http://b; } proxy_pass http://a; }`,
				`server { listen {listen} default_server; location / { proxy_pass http://a; } }`),
			caddy: has("@api {\n host one.example\n path /api/*\n method GET\n}\nreverse_proxy @api {b}\nreverse_proxy {a}"),
			traefik: has(`http: {routers: {
  api: {rule: 'Host("one.example") && PathPrefix("/api/") && Method("GET")', service: b},
  rest: {rule: 'PathPrefix("/")', service: a}}}`),
			haproxy: has("use_backend b if { hdr(host) one.example } { path_beg /api/ } METH_GET\n default_backend a"),
		},
	},
	"header": {
		try: responds("GET / X-Beta=yes -> 200; b GET", "GET / X-Beta=no -> 200; a GET", "GET / -> 200; a GET"),
		evidence: map[string]evidence{
			weir: has(`{up}
routes: [{match: "/{path...}", to: b, when: {headers: {X-Beta: "yes"}}}, {match: "/{path...}", to: a}]`),
			nginx: has(`location / { proxy_pass http://$up; }`, `map $http_x_beta $up { yes b; default a; }`),
			caddy: has("@h header X-Beta yes\nreverse_proxy @h {b}\nreverse_proxy {a}"),
			traefik: has(`http: {routers: {h: {rule: 'Header("X-Beta", "yes")', service: b},
  rest: {rule: 'PathPrefix("/")', service: a, priority: 1}}}`),
			haproxy: has("use_backend b if { req.hdr(X-Beta) yes }\n default_backend a"),
		},
	},
	"query": {
		try: responds("GET /?beta=yes -> 200; b GET", "GET /?beta=no -> 200; a GET", "GET / -> 200; a GET"),
		evidence: map[string]evidence{
			weir: has(`{up}
routes: [{match: "/{path...}", to: b, when: {query: {beta: "yes"}}}, {match: "/{path...}", to: a}]`),
			nginx: has(`location / { proxy_pass http://$up; }`, `map $arg_beta $up { yes b; default a; }`),
			caddy: has("@q query beta=yes\nreverse_proxy @q {b}\nreverse_proxy {a}"),
			traefik: has(`http: {routers: {q: {rule: 'Query("beta", "yes")', service: b},
  rest: {rule: 'PathPrefix("/")', service: a, priority: 1}}}`),
			haproxy: has("use_backend b if { url_param(beta) yes }\n default_backend a"),
		},
	},
	"cookie": {
		try: responds("GET / Cookie=x=1;_beta=yes -> 200; b GET", "GET / Cookie=notbeta=yes -> 200; a GET"),
		evidence: map[string]evidence{
			weir: has(`{up}
routes: [{match: "/{path...}", to: b, when: {cookies: {beta: "yes"}}}, {match: "/{path...}", to: a}]`),
			nginx: has(`location / { proxy_pass http://$up; }`, `map $cookie_beta $up { yes b; default a; }`),
			caddy: has("@c expression `{http.request.cookie.beta} == \"yes\"`\nreverse_proxy @c {b}\nreverse_proxy {a}"),
			traefik: has(`http: {routers: {c: {rule: 'HeaderRegexp("Cookie", "(^|; *)beta=yes(;|$)")', service: b},
  rest: {rule: 'PathPrefix("/")', service: a, priority: 1}}}`),
			haproxy: has("use_backend b if { req.cook(beta) yes }\n default_backend a"),
		},
	},
	"constraints": {
		try: responds("GET /items/42 -> 200; a GET", "GET /items/abc -> 404", "GET /items/42/x -> 404"),
		evidence: map[string]evidence{
			weir:    has(`{up}` + "\n" + `routes: [{match: "/items/{id:uint}", to: a}]`),
			nginx:   has(`location / { return 404; } location ~ ^/items/[0-9]+$ { proxy_pass http://a; }`),
			caddy:   has("@i path_regexp ^/items/[0-9]+$\nhandle @i {\nreverse_proxy {a}\n}\nhandle {\nrespond 404\n}"),
			traefik: has(`http: {routers: {i: {rule: 'PathRegexp("^/items/[0-9]+$")', service: a}}}`),
			haproxy: has("http-request deny deny_status 404 if !{ path_reg ^/items/[0-9]+$ }\n default_backend a"),
		},
	},
	"identical": { // the same route twice
		mistake: "conflicts|duplicate|ambiguous",
		evidence: map[string]evidence{
			weir:    has(`{up}` + "\n" + `routes: [{match: /a, to: a}, {match: /a, to: b}]`),
			nginx:   has(`location /a { proxy_pass http://a; } location /a { proxy_pass http://b; }`),
			caddy:   has("reverse_proxy {a}", "", "http://:{port} {\nbind 127.0.0.1\nreverse_proxy {b}\n}"),
			traefik: lacks(`http: {routers: {one: {rule: 'Path("/a")', service: a}, two: {rule: 'Path("/a")', service: b}}}`),
			haproxy: lacks("use_backend a if { path /a }\n use_backend b if { path /a }"),
		},
	},
	"overlapping": { // two routes for the same path, neither of which is more specific
		mistake: "conflicts with",
		evidence: map[string]evidence{
			weir: has(`{up}
constraints: {hex: "[0-9a-f]+"}
routes: [{match: "/areas/{n:int}/{rest...}", to: a}, {match: "/areas/{code:hex}/map", to: b}]`),
			nginx: lacks(`location ~ ^/areas/[0-9]+/ { proxy_pass http://a; }
location ~ ^/areas/[0-9a-f]+/map$ { proxy_pass http://b; }`),
			caddy: lacks("@one path_regexp ^/areas/[0-9]+/\n@two path_regexp ^/areas/[0-9a-f]+/map$\n" +
				"reverse_proxy @one {a}\nreverse_proxy @two {b}"),
			traefik: lacks(`http: {routers: {one: {rule: 'PathRegexp("^/areas/[0-9]+/")', service: a},
  two: {rule: 'PathRegexp("^/areas/[0-9a-f]+/map$")', service: b}}}`),
			haproxy: lacks("use_backend a if { path_reg ^/areas/[0-9]+/ }\n use_backend b if { path_reg ^/areas/[0-9a-f]+/map$ }"),
		},
	},
	"redirect-file": {
		try: responds("GET /old -> 301; /new"),
		evidence: map[string]evidence{
			weir:  has("redirects: redirects.csv\nroutes: [{match: /x, respond: {status: 200}}]"),
			nginx: has(`if ($new) { return 301 $new; }`, `map $uri $new { include redirects.map; }`),
			caddy: has("import redirects.caddy"),
			traefik: documented(false,
				"https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/redirectregex/"),
			haproxy: has("http-request redirect code 301 location %[path,map(redirects.txt)] if { path,map(redirects.txt) -m found }"),
		},
	},
	"redirect-loop": {
		mistake: "redirect",
		evidence: map[string]evidence{
			weir:  has("redirects: loop.csv\nroutes: [{match: /x, respond: {status: 200}}]"),
			nginx: lacks(`location = /a { return 301 /b; } location = /b { return 301 /a; }`),
			caddy: lacks("redir /a /b\nredir /b /a"),
			traefik: lacks(`http: {routers: {a: {rule: 'Path("/a")', service: a, middlewares: [a]}, b: {rule: 'Path("/b")', service: a, middlewares: [b]}},
  middlewares: {a: {redirectRegex: {regex: "/a$", replacement: "/b"}}, b: {redirectRegex: {regex: "/b$", replacement: "/a"}}}}`),
			haproxy: lacks("http-request redirect location /b if { path /a }\n http-request redirect location /a if { path /b }"),
		},
	},
	"rewrite": {
		try: responds("GET /api/items?x=1 -> 200; a GET /v2/items?x=1"),
		evidence: map[string]evidence{
			weir:  has(`{up}` + "\n" + `routes: [{match: "/api/{path...}", to: a, rewrite: "/v2/{path}"}]`),
			nginx: has(`location /api/ { proxy_pass http://a/v2/; }`),
			caddy: has("handle_path /api/* {\nrewrite * /v2{uri}\nreverse_proxy {a}\n}"),
			traefik: has(`http: {routers: {r: {rule: 'PathPrefix("/api/")', service: a, middlewares: [m]}},
  middlewares: {m: {replacePathRegex: {regex: "^/api/(.*)", replacement: "/v2/$1"}}}}`),
			haproxy: has("http-request replace-path /api/(.*) /v2/\\1\n default_backend a"),
		},
	},
	"edits": {
		try: responds("GET / X-Secret=1 -> 200; X-Frame-Options: DENY; > X-Env: prod; !magic; !X-Secret"),
		evidence: map[string]evidence{
			weir: has(`{up}
routes:
- match: "/{path...}"
  to: a
  request_headers: {set: {X-Env: prod}, remove: [X-Secret]}
  response_headers: {set: {X-Frame-Options: DENY}, remove: [X-Powered-By]}`),
			nginx: has(`location / { proxy_set_header X-Env prod; proxy_set_header X-Secret "";
proxy_hide_header X-Powered-By; add_header X-Frame-Options DENY; proxy_pass http://a; }`),
			caddy: has("header X-Frame-Options DENY\nheader -X-Powered-By\nreverse_proxy {a} {\nheader_up X-Env prod\nheader_up -X-Secret\n}"),
			traefik: has(`http: {routers: {r: {rule: 'PathPrefix("/")', service: a, middlewares: [m]}},
  middlewares: {m: {headers: {customRequestHeaders: {X-Env: prod, X-Secret: ""},
    customResponseHeaders: {X-Frame-Options: DENY, X-Powered-By: ""}}}}}`),
			haproxy: has("http-request set-header X-Env prod\n http-request del-header X-Secret\n http-response set-header X-Frame-Options DENY\n http-response del-header X-Powered-By\n default_backend a"),
		},
	},
	"redirect": {
		try: responds("GET /old/7 -> 308; /new/7"),
		evidence: map[string]evidence{
			weir:  has(`routes: [{match: "/old/{id}", redirect: {to: "/new/{id}", status: 308}}]`),
			nginx: has(`location ~ ^/old/([^/]+)$ { return 308 /new/$1; }`),
			caddy: has("@o path_regexp o ^/old/([^/]+)$\nredir @o /new/{re.o.1} 308"),
			traefik: has(`http: {routers: {r: {rule: 'PathPrefix("/old/")', service: a, middlewares: [m]}},
  middlewares: {m: {redirectRegex: {regex: "/old/([^/]+)$", replacement: "/new/$1", permanent: true}}}}`).
				by(responds("GET /old/7 -> 301; /new/7")),
			haproxy: has("http-request redirect code 308 location %[path,regsub(^/old/,/new/)] if { path_beg /old/ }"),
		},
	},
}
