package config_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/yamlfile"
)

// compiled returns the JSON Schema.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.JSONSchema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("weir.schema.json", text); err != nil {
		return nil, err
	}
	return c.Compile("weir.schema.json")
})

// validate compares a file with the JSON Schema.
func validate(t testing.TB, src string) error {
	t.Helper()
	schema, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	f, root := yamlfile.Read("weir.yaml", "a configuration", []byte(src))
	if root == nil || f.Err() != nil {
		return f.Err()
	}
	return schema.Validate(asJSON(root))
}

// asJSON returns a value of a file as an editor reads it.
func asJSON(n *yamlfile.Node) any {
	switch n.Kind {
	case yamlfile.Mapping:
		mapping := map[string]any{}
		for _, pair := range n.Pairs {
			mapping[pair.Key.Text] = asJSON(pair.Value)
		}
		return mapping
	case yamlfile.List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, asJSON(item))
		}
		return list
	case yamlfile.Single:
		if number, err := strconv.ParseFloat(n.Text, 64); !n.Quoted && n.Type != "string" && err == nil {
			return number
		}
		if n.Type == "bool" && !n.Quoted {
			return n.Text == "true"
		}
		return n.Text
	}
	return nil
}

// The files of the examples, of deploy and of the documents are valid, and the examples name the schema.
func TestJSONSchemaAcceptsExamples(t *testing.T) {
	const root = "../../"
	files, blocks := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case d.Name() == "weir.yaml":
			files++
			text := read(t, path)
			wantValid(t, path, text)
			if filepath.Dir(filepath.Dir(path)) == root+"examples" && !strings.HasPrefix(text, schemaLine) {
				t.Errorf("%s does not begin with: %s", path, schemaLine)
			}
		case filepath.Ext(path) == ".md":
			for _, block := range yamlBlocks(read(t, path)) {
				if strings.HasPrefix(block, "routes:") || strings.Contains(block, "\nroutes:") {
					blocks++
					wantValid(t, path, block)
				}
			}
		}
		return nil
	})
	if err != nil || files < 20 || blocks < 5 {
		t.Fatal(files, blocks, err)
	}
}

// schemaLine names the schema for editors.
const schemaLine = "# yaml-language-server: $schema=../../docs/configuration/weir.schema.json\n"

func wantValid(t *testing.T, path, src string) {
	t.Helper()
	if err := validate(t, src); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// yamlBlocks returns the blocks of a document that are YAML.
func yamlBlocks(text string) (all []string) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "\n```yaml\n")
		if !found {
			return all
		}
		block, end, _ := strings.Cut(after, "\n```")
		all, rest = append(all, block), end
	}
}

// refused are values and keys that an editor marks, by the part of the file in which they are.
var refused = map[string]string{
	"top": `
watch: yes
watch: 1
listne: ":80"
listen: 80
listen: []
listen: {http: ":80"}
listen: localhost
admin: false
admin: [":1", ":2"]
namespace: [a]
namespace: 1
engine: epoll
engine: true
drain: 10
drain: {delay: 5, timeout: 10s}
drain: {grace: 5s}
trusted_proxies: all
dns: {servers: ns.example}
dns: {max_ttl: 0s}
dns: {resolvers: [10.0.0.2]}
log: {level: warning}
log: {format: text}
log: {queue: {size: 8MB}}
log: {queue: {when_full: wait}}
log: {queue: 8MiB}
log: {rotate: {keep: -1}}
log: {rotate: {size: 100}}
log: {spill: {age: week}}
log: {rotate: {}}
log: {spill: {}}
tls: {}
defaults: {access: {}}
log: {request_fields: [a b]}
log: json
limits: {in_flight: 0}
limits: {in_flight: many}
limits: {in_flight: {shared: "redis://a"}}
limits: {queue: {wait: 1s}}
limits: {rate: {burst: 5}}
limits: {rate: {limit: 100/s, per: ip}}
limits: {max_connections: 1.5}
limits: {client_timeouts: {header: 10}}
limits: {client_timeouts: {idle: 0s}}
proxy_protocol: {required: true}
proxy_protocol: {from: "*"}
tls: {min_version: 1.1}
tls: {certificates: [{key: a.pem}]}
tls: {certificates: a.pem}
tls: {redirect: 0}
tls: {hsts: {subdomains: true}}
tls: {acme: {email: a@example.com}}
tls: {acme: {domains: [example.com], ca: "http://ca.example"}}
tls: {acme: {domains: [example.com], challenges: [http]}}
tls: {http3: "on"}
tls: {client_certificates: [{hosts: [a.example]}]}
constraints: [a]
constraints: {a: {regex: b}}
defaults: {to: a}
defaults: {match: /}
defaults: {limits: {in_flight: 5}}
defaults: {timeout: none}
redirects: [{from: /a, to: /b}]
`,
	"upstream": `
balance: random
balance: {policy: hash}
hash: cookie
hash: {by: cookie}
connections: {wait: 1s}
connections: many
connect_wait: 0s
connect_wait: 3
send_proxy_protocol: v3
send_proxy_protocol: true
max_response_fields: 0
health: healthz
health: {interval: 5s}
health: {path: /, status: ok}
health: {path: /, method: POST}
health: {path: /, rise: 0}
outliers: {failure_rate: 30}
outliers: {consecutive: 0}
outliers: {latency: 5x}
protocol: h2
retry: 3
retry: {attempts: 9}
retry: {methods: [POST]}
retry: {on: [500]}
sticky: {max_age: 24h}
sticky: server
tls: {verify: false}
slow_start: 30
weight: 3
`,
	"route": `
tto: b
match: [/a, /b]
mirror: {to: b, share: 10}
mirror: {to: b, share: 0%}
mirror: {to: b, in_flight: 0}
timeout: 30
timeout: {connect: 1s}
timeout: 0s
compress: {level: 9}
compress: {encodings: [deflate]}
compress: {min_length: 1000}
cors: {origins: app.example.com}
cors: {origins: ["*"], max_age: 600}
cors: {origins: ["*"], credentials: maybe}
access: {allow: [office]}
access: 10.0.0.0/8
basic_auth: {users: {alice: secret}}
forward_auth: {to: b, path: verify}
forward_auth: b
maintenance: {active: maybe}
maintenance: {retry_after: 30}
error_pages: {404: {file: a.html}}
request_headers: {X-A: b}
request_headers: {set: [X-A]}
response_headers: {remove: [a b]}
when: {host: a.example}
when: {headers: [X-A]}
limits: {body: 10}
limits: {upload_rate: 500}
limits: {max_connections: 5}
log: {events: some}
log: {fields: [a]}
plain_http: always
upgrade: {websocket: true}
strip_prefix: true
group: {routes: []}
rewrite: [a]
`,
	"action": `
respond: 99
respond: {status: 200, body: hello}
redirect: {to: /a, status: 303}
redirect: {to: /a, query: maybe}
files: {root: ., index: a/b}
files: {root: ., precompressed: [deflate]}
split: {a: 90, b: 10}
split: [{weight: 1}]
split: [{to: a, weight: 10%}]
`,
}

func TestJSONSchemaRefusesMistakes(t *testing.T) {
	for in, lines := range refused {
		for line := range strings.Lines(strings.TrimSpace(lines)) {
			line = strings.TrimSuffix(line, "\n")
			habitat := habitats[in]
			if in == "action" {
				habitat = strings.Replace(habitats["route"], "  to: a\n", "", 1)
			}
			src := strings.Replace(habitat, "…", line, 1)
			if _, err := config.Parse("weir.yaml", []byte(src), nil); err == nil {
				t.Errorf("%s: %s is no mistake", in, line)
			}
			if validate(t, src) == nil {
				t.Errorf("%s: the JSON Schema accepts %s", in, line)
			}
		}
	}
}
