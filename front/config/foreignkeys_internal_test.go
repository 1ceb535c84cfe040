package config

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/internal/namedfile"
)

// places are files in which a hint of a key may have its key, in place of "…".
var places = []string{
	"…\nroutes: {match: /, respond: 204}\n",
	"defaults: {…}\nroutes: {match: /, respond: 204}\n",
	"…\ntls: {acme: {domains: [a.example]}}\nroutes: {match: /, respond: 204}\n",
	"upstreams: {site: {servers: http://a}, next: {servers: http://b}, login: {servers: http://c}, shadow: {servers: http://d}}\n" +
		"routes: [{match: '/api/{path...}', to: site, …}, {match: /b, to: next}, {match: /c, to: login}, {match: /d, to: shadow}]\n",
	"upstreams: {site: {servers: http://a}, next: {servers: http://b}}\n" +
		"routes: [{match: '/api/{id}/{path...}', …}, {match: /b, to: next}, {match: /c, to: site}]\n",
	"upstreams: {site: {servers: https://a, …}}\nroutes: {match: /, to: site}\n",
	"upstreams: {site: {servers: [http://a, http://b], …}}\nroutes: {match: /, to: site}\n",
	"upstreams: {site: {…}}\nroutes: {match: /, to: site}\n",
	"upstreams: {site: {servers: http://a}}\nroutes: [{to: site, …}]\n",
	"routes: {group: {…, routes: {match: /x, respond: 204}}}\n",
}

// inMappings are places for the hints of keys in mappings, by the name of the mapping.
var inMappings = map[string]string{
	"access":          "defaults: {access: {…}}",
	"compress":        "defaults: {compress: {…}}",
	"cors":            "defaults: {cors: {…}}",
	"files":           "routes: {match: '/{path...}', files: {…}}",
	"forward_auth":    "upstreams: {a: {servers: http://a}}\ndefaults: {forward_auth: {to: a, …}}",
	"health":          "upstreams: {a: {servers: http://a, health: {…}}}",
	"log":             "log: {…}",
	"queue":           "limits: {in_flight: 9, queue: {…}}",
	"rate":            "limits: {rate: {…}}",
	"redirect":        "routes: {match: '/{id}', redirect: {…}}",
	"request_headers": "defaults: {request_headers: {…}}",
	"retry":           "upstreams: {a: {servers: http://a, retry: {…}}}",
	"servers":         "upstreams: {a: {servers: [{…}]}}",
	"timeout":         "defaults: {timeout: {…}}",
	"tls":             "tls: {…}",
}

// TestHintsAreAccepted puts the keys that hints suggest into a file, in at least one place of which they are valid. Files
// that they name do not exist.
func TestHintsAreAccepted(t *testing.T) {
	suggestion := regexp.MustCompile(`(?:as in|write) ([a-z_]+: .*)`)
	tried := 0
	for _, table := range []map[string]string{foreignDirectives, foreignKeys, keysOfGroups} {
		for name, hint := range table {
			found := suggestion.FindStringSubmatch(hint)
			if found == nil || strings.Contains(found[1], "COMMAND") {
				continue
			}
			tried++
			if suggested := firstKey(found[1]); !acceptsSomewhere(name, suggested) {
				t.Errorf("%s: nowhere is %s valid, which is suggested", name, suggested)
			}
		}
	}
	if tried < 150 {
		t.Errorf("%d suggestions, want most of the tables", tried)
	}
}

// firstKey returns the key and its value at the start of a hint.
func firstKey(hint string) string {
	depth, quoted := 0, false
	for i, c := range hint {
		switch c {
		case '"':
			quoted = !quoted
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ' ', ',':
			if depth == 0 && !quoted && !strings.HasSuffix(hint[:i], ":") {
				return hint[:i]
			}
		}
	}
	return hint
}

func acceptsSomewhere(name, suggested string) bool {
	all := places
	path := strings.Split(strings.ReplaceAll(name, ".*", ""), ".")
	if in, ok := inMappings[path[max(len(path)-2, 0)]]; ok {
		if !strings.Contains(in, "routes:") {
			in += "\nroutes: {match: /, respond: 204}"
		}
		all = append([]string{in}, all...)
	}
	for _, place := range all {
		_, err := Parse("weir.yaml", []byte(strings.Replace(place, "…", suggested, 1)), nil)
		var mistakes Mistakes
		if err == nil {
			return true
		}
		if errors.As(err, &mistakes) && onlyMissing(mistakes) {
			return true
		}
	}
	return false
}

// onlyMissing reports whether all mistakes are files that do not exist, or keys that are missing beside a key.
func onlyMissing(all Mistakes) bool {
	for _, m := range all {
		if m.Hint != namedfile.RelativeHint && !strings.Contains(m.What, " has no ") {
			return false
		}
	}
	return true
}
