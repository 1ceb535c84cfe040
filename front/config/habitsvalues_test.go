package config_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/mistaketest"
)

// Values in the syntax of other front doors.
func TestForeignValuesNameTheRightOnes(t *testing.T) {
	testHabits(t, []habit{
		{"top", `listen: "*:80"`, "3:9", `"*:80" is not an address`, `write ":80"`},
		{"top", `listen: "*:443 ssl crt a.pem"`, "3:9", "is not an address", `write tls: {listen: ":443"}`},
		{"top", `admin: "{$ADMIN}"`, "3:8", "is not an address", "as in ${NAME}"},
		{"top", `admin: "{env.ADMIN}"`, "3:8", "is not an address", "as in ${NAME}"},
		{"top", "watch: true;", "3:8", `"true;" is not known here`, "remove the semicolon"},
		{"top", "admin: “:9000”", "3:8", "is not", `write the quotes " or '`},
		{"top", "example.com: {reverse_proxy: localhost}", "3:1", `unknown key "example.com"`, `match: "example.com/{path...}"`},
		{"top", "tls=on", "3:1", `"tls=on" is not a key with a value`, "write tls: on"},
		{"route", "access: {deny: all}", "5:18", `"all" is not a network`, "beside allow"},
		{"route", "log: off", "5:8", `"log" cannot be off`, "write log: {events: off}"},
		{"route", "response_headers: {+Vary: Origin}", "5:22", `unknown key "+Vary"`, "write add: {Vary: Origin}"},
		{"route", "limits: {rate: {limit: 10/s, burst: 20, nodelay: true}}", "5:43", `unknown key "nodelay"`, "remove it"},
		{"route", "limits: {rate: {limit: 10/s, zone: one}}", "5:32", `unknown key "zone"`, "remove it"},
		{"route", "when: {path_beg: /api}", "5:10", `unknown key "path_beg"`, "write it in match"},
		{"route", "when: {src: 10.0.0.0/8}", "5:10", `unknown key "src"`, "write access"},
		{"route", "error_pages: {500 502: a.html}", "5:17", "is not the status of an error", "as in 500-504"},
		{"action", "respond: 200 ok", "4:12", `"200 ok" is not a status`, `write respond: {status: 200, text: "ok"}`},
		{"action", "respond: hello", "4:12", `"hello" is not a status`, `text: "hello"}`},
		{"action", "respond: 301 https://a.example/", "4:12", "is not a status", `write redirect: {to: "https://a.example/", status: 301}`},
		{"pattern", "match: shop.example.com", "4:10", "there is no path", `"shop.example.com/{path...}" has all paths of a host`},
		{"upstream", "balance: leastconn", "5:14", `"leastconn" is not known`, "write least_connections"},
		{"upstream", "balance: ip_hash", "5:14", `"ip_hash" is not known`, "hash: {by: client}"},
		{"upstream", "balance: uri", "5:14", `"uri" is not known`, "hash: {by: path}"},
		{"upstream", "balance: first", "5:14", `"first" is not known`, "backup: true"},
		{"upstream", "health: GET /healthz", "5:13", "is not a path", "write health: {path: /healthz, method: GET}"},
		{"servers", "servers: http://a weight=3", "4:14", "is not a server's URL", "write {url: http://a, weight: 3}"},
		{"servers", "servers: [http://a, http://b backup]", "4:25", "is not a server's URL", "write {url: http://b, backup: true}"},
		{"servers", "servers: server s1 10.0.0.1:80 check", "4:14", "is not a server's URL", "write only the URL, as in http://host:port"},
		{"servers", "servers: [{url: http://a, max_fails: 3}, {url: http://b}]", "4:31", `unknown key "max_fails"`, "write outliers"},
		{"servers", "servers: [{url: http://a, down: true}]", "4:31", `unknown key "down"`, "remove the server"},
		{"action", "split: [{to: b, weight: 90%}]", "4:27", `"90%" is not a count`, "write 90"},
		{"action", "to: http://127.0.0.1:3000", "4:7", "there is no upstream", "servers: http://127.0.0.1:3000"},
		{"servers", "servers:http://a", "4:5", `"servers:http://a" is not a key with a value`, "write servers: http://a"},
		{"servers", "servers = http://a", "4:5", `"servers = http://a" is not a key`, "write servers: http://a"},
	})
}

// A file of another front door is a single text for YAML.
func TestFilesOfOtherFrontDoorsAreRecognised(t *testing.T) {
	for src, what := range map[string]string{
		"server {\n  listen 80;\n}\n":                      `"server {" begins a block of another language`,
		"example.com {\n  reverse_proxy localhost:80\n}\n": `"example.com {" begins a block`,
		"global\n  daemon\nfrontend web\n  bind *:80\n":    `"global" begins a section of another language`,
	} {
		if ms := mistakes(t, src, nil); len(ms) != 1 || !strings.Contains(ms[0].What, what) || ms[0].Hint == "" {
			t.Errorf("%s: %v, want %s", src, ms, what)
		}
	}
}

func TestMissingCommaIsNamed(t *testing.T) {
	mistaketest.Want(t, mistakes(t, "upstreams: {a: {servers: http://a}}\nroutes: [{match: /x to: a}]\n", nil),
		[]string{"2:10 no action", "2:20 write a comma before to"})
}

// A default of a secret in the file would be no secret.
func TestUnsetSecretsAreMade(t *testing.T) {
	src := "upstreams: {a: {servers: http://a, sticky: {cookie: a, secret: '${STICKY_SECRET}'}}}\nroutes: {match: /, to: a}\n"
	none := func(string) (string, bool) { return "", false }
	if ms := mistakes(t, src, none); !strings.Contains(ms[0].Hint, "export STICKY_SECRET=$(openssl rand -hex 32)") {
		t.Error(ms)
	}
}
