package front_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A modelPlace is defaults, a group or a route of a random file. Values are strings, numbers, lists of strings, mappings
// and off. Nothing is merged: a value is looked for in the innermost place first.
type modelPlace struct {
	outer  *modelPlace
	kind   string
	keys   map[string]any
	action string // "" to inherit it

	hosts     []string
	prefix    string // of this place
	name      string
	allow     []string
	deny      string
	burst     int // requests of the rate; 0 for no rate
	match     string
	places    []*modelPlace // groups and routes in a group
	requested int           // requests that its rate has counted
}

// off is the value off.
type off struct{}

// value returns the value at a path.
func (p *modelPlace) value(path ...string) any {
	for ; p != nil; p = p.outer {
		var v any = p.keys
		for i := 0; i < len(path) && v != nil; i++ {
			m, ok := v.(map[string]any)
			if !ok {
				return nil // off
			}
			v = m[path[i]]
		}
		switch v.(type) {
		case nil:
			continue
		case off:
			return nil
		}
		return v
	}
	return nil
}

// text returns the single value at a path, or "".
func (p *modelPlace) text(path ...string) string {
	if v := p.value(path...); v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// chain returns the places from the outermost to p.
func (p *modelPlace) chain() (all []*modelPlace) {
	for ; p != nil; p = p.outer {
		all = append(all, p)
	}
	slices.Reverse(all)
	return all
}

// does returns the action of the innermost place that has one.
func (p *modelPlace) does() string {
	for ; p != nil; p = p.outer {
		if p.action != "" {
			return p.action
		}
	}
	return ""
}

// ofAction returns the value of a key of the action of a route, or "". Places around one with another kind of action do
// not count.
func (p *modelPlace) ofAction(key string) string {
	kind := actions[p.does()].kind
	for ; p != nil; p = p.outer {
		switch a := actions[p.action]; {
		case p.action != "" && a.kind != kind:
			return ""
		case a.keys[key] != "":
			return a.keys[key]
		}
	}
	return ""
}

// wholePrefix returns the prefixes of a place and of those around it.
func (p *modelPlace) wholePrefix() (prefix string) {
	for _, place := range p.chain() {
		prefix += place.prefix
	}
	return prefix
}

// allHosts returns the hosts of a route, or nil for any.
func (p *modelPlace) allHosts() []string {
	for ; p != nil; p = p.outer {
		if p.hosts != nil {
			return p.hosts
		}
	}
	return nil
}

// A combination is a random file.
type combination struct {
	random   *rand.Rand
	unique   int
	defaults *modelPlace
	burst    int // of all requests; 0 for no rate
	counted  int
	top      *modelPlace // its places are the list routes
	routes   []*modelPlace
	catchAll bool
}

func (c *combination) one(in int) bool { return c.random.IntN(in) == 0 }

func (c *combination) next() string { c.unique++; return strconv.Itoa(c.unique) }

func pick[T any](c *combination, of ...T) T { return of[c.random.IntN(len(of))] }

// newCombination returns a file that depends only on the seed.
func newCombination(seed uint64) *combination {
	c := &combination{random: rand.New(rand.NewPCG(seed, 28))}
	c.defaults = &modelPlace{kind: "defaults", keys: map[string]any{}}
	c.fill(c.defaults)
	c.top = &modelPlace{kind: "top", outer: c.defaults, keys: map[string]any{}}
	c.list(c.top, 0)
	if c.one(4) {
		c.burst = 20 + c.random.IntN(20)
	}
	return c
}

// list adds routes and groups to a place.
func (c *combination) list(in *modelPlace, depth int) {
	for range 1 + c.random.IntN(3) {
		p := &modelPlace{kind: "group", outer: in, keys: map[string]any{}}
		if depth == 3 || c.one(2) {
			p.kind = "route"
		}
		in.places = append(in.places, p)
		if p.kind == "group" {
			if c.one(2) {
				p.prefix = "/g" + c.next()
			}
			if c.one(4) {
				p.hosts = []string{"a.example", "b.example"}[:1+c.random.IntN(2)]
			}
			c.fill(p)
			c.list(p, depth+1)
			continue
		}
		p.match = pick(c, "/r", "/r", "GET /r", "GET,POST /r") + c.next() + pick(c, "", "/{id}", "/{id...}")
		if !c.catchAll && c.one(4) {
			c.catchAll, p.match = true, "/{id...}"
		}
		c.fill(p)
		c.routes = append(c.routes, p)
	}
}

// fill gives a place random keys.
func (c *combination) fill(p *modelPlace) {
	if p.kind != "defaults" && (p.does() == "" || c.one(3)) {
		names := []string{"to a", "to b", "to b", "respond", "gone", "redirect", "moved", "files", "cached"}
		if p.ofAction("root") != "" {
			names = append(names, "recached", "recached", "recached")
		}
		p.action = pick(c, names...)
	}
	forwards := p.kind != "route" || strings.HasPrefix(p.does(), "to")
	c.fillHeaders(p, "response_headers")
	if forwards {
		c.fillHeaders(p, "request_headers")
		c.fillPath(p)
	}
	c.maybe(p, "compress", func() any {
		return pick[any](c, off{}, map[string]any{}, map[string]any{"min_length": pick(c, "1B", "250B", "4KiB"), "encodings": "gzip"})
	})
	c.maybeOff(p, "maintenance", func() any {
		m := map[string]any{"active": c.one(3)}
		if c.one(2) {
			m["retry_after"] = c.next() + "s"
		}
		return m
	})
	c.fillPages(p)
	c.maybeOff(p, "cors", func() any { return map[string]any{"origins": pick(c, "https://a.example", "https://b.example", "*")} })
	c.fillAuth(p)
	limits := map[string]any{}
	if c.one(4) {
		limits["body"] = pick(c, "10B", "100B")
		p.keys["limits"] = limits
	} else if p.text("limits", "body") != "" && c.one(3) {
		limits["body"] = off{}
		p.keys["limits"] = limits
	}
	if p.kind != "defaults" && c.one(5) {
		p.keys["when"] = map[string]any{"headers": map[string]any{pick(c, "X-Beta", "X-Gamma"): pick[any](c, true, "1")}}
	}
	switch n := c.random.IntN(10); {
	case n == 0:
		p.deny = pick(c, clients...)
	case n == 1:
		p.allow = clients[c.random.IntN(2):]
	case n == 2:
		p.allow, p.deny = []string{"10.0.0.0/8"}, pick(c, clients...)
	}
	if p.kind != "defaults" && c.one(6) {
		p.burst, p.name = 1+c.random.IntN(4), "n"+c.next()
	}
}

// clients are the addresses of the clients.
var clients = []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}

// maybe sets a key of a place, or does not.
func (c *combination) maybe(p *modelPlace, key string, value func() any) {
	if c.one(4) {
		p.keys[key] = value()
	}
}

// maybeOff is maybe for a key that is off only where there is an outer value.
func (c *combination) maybeOff(p *modelPlace, key string, value func() any) {
	if p.value(key) != nil && c.one(4) {
		p.keys[key] = off{}
		return
	}
	c.maybe(p, key, value)
}

func (c *combination) fillHeaders(p *modelPlace, key string) {
	edits, set := map[string]any{}, map[string]any{}
	for _, name := range []string{"X-A", "X-B"} {
		switch {
		case !c.one(3):
		case p.value(key, "set", name) != nil && c.one(2):
			set[name] = off{}
		default:
			set[name] = pick(c, "v"+c.next(), "{client.address}", "off")
		}
	}
	if len(set) > 0 {
		edits["set"] = set
	}
	if c.one(6) {
		edits["add"] = map[string]any{"X-C": []string{"c" + c.next(), "d"}}
	}
	if c.one(6) {
		edits["remove"] = []string{pick(c, "X-Up-1", "X-Up-2"), "X-Up-3"}
	} else if p.value(key, "remove") != nil && c.one(3) {
		edits["remove"] = off{}
	}
	if len(edits) > 0 {
		p.keys[key] = edits
	}
}

// fillPath sets the keys of the path for the upstream.
func (c *combination) fillPath(p *modelPlace) {
	prefixes := p.value("strip_prefix") != nil || p.value("add_prefix") != nil
	switch n := c.random.IntN(12); {
	case n == 0 && p.value("rewrite") == nil:
		p.keys["add_prefix"] = "/added" + c.next()
	case n == 1 && p.value("rewrite") == nil && p.wholePrefix() != "":
		p.keys["strip_prefix"] = p.wholePrefix()
	case n == 2 && p.kind == "route" && strings.HasSuffix(p.match, "/{id}") && !prefixes:
		p.keys["rewrite"] = "/new/{id}"
	case n == 3 && p.value("add_prefix") != nil:
		p.keys["add_prefix"] = off{}
	}
}

func (c *combination) fillPages(p *modelPlace) {
	pages := map[string]any{}
	for _, status := range []string{"403", "404", "4xx", "5xx"} {
		switch {
		case !c.one(8):
		case p.value("error_pages", status) != nil && c.one(2):
			pages[status] = off{}
		default:
			pages[status] = pick(c, pageNames...)
		}
	}
	if len(pages) > 0 && c.one(2) {
		pages["intercept"] = c.one(2)
	}
	if len(pages) > 0 {
		p.keys["error_pages"] = pages
	}
}

// pageNames are the names of files with error pages.
var pageNames = []string{"p0.html", "p1.html", "p2.html"}

func (c *combination) fillAuth(p *modelPlace) {
	c.maybeOff(p, "basic_auth", func() any {
		m := map[string]any{"users": map[string]any{"alice": aliceHash}, "realm": "r" + c.next()}
		if c.one(2) {
			m["user_header"] = "X-User"
		}
		return m
	})
	if c.one(2) {
		return
	}
	c.maybeOff(p, "forward_auth", func() any {
		return map[string]any{"to": "login", "path": "/verify", "copy": pick[any](c, "X-Who", []string{"X-Who", "X-Role"})}
	})
}

// yaml returns the file.
func (c *combination) yaml(upstreams string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: 127.0.0.1:0\nadmin: off\ntrusted_proxies: [127.0.0.1]\nredirects: redirects.csv\n%s", upstreams)
	if c.burst > 0 {
		fmt.Fprintf(&b, "limits: {rate: %s}\n", rateOf(c.burst))
	}
	if keys := c.keysOf(c.defaults); len(keys) > 0 {
		fmt.Fprintf(&b, "defaults:\n  %s\n", strings.Join(keys, "\n  "))
	}
	b.WriteString("routes:\n")
	c.print(&b, c.top, "")
	return b.String()
}

// actions are the actions of places: in the file, and the keys that they give.
var actions = map[string]struct {
	line, kind string
	keys       map[string]string
}{
	"to a":    {"to: a", "to", nil},
	"to b":    {"to: b", "to", nil},
	"respond": {"respond: {status: 200, text: hello}", "respond", map[string]string{"status": "200", "text": "hello"}},
	"gone":    {"respond: 410", "respond", map[string]string{"status": "410"}},
	"redirect": {"redirect: {to: https://elsewhere.example/, status: 308}", "redirect",
		map[string]string{"to": "https://elsewhere.example/", "status": "308"}},
	"moved": {"redirect: https://moved.example/", "redirect", map[string]string{"to": "https://moved.example/"}},
	"files": {"files: public", "files", map[string]string{"root": "public"}},
	"cached": {"files: {root: public, cache_control: max-age=60}", "files",
		map[string]string{"root": "public", "cache_control": "max-age=60"}},
	"recached": {"files: {cache_control: max-age=70}", "files", map[string]string{"cache_control": "max-age=70"}},
}

func rateOf(burst int) string { return fmt.Sprintf("{limit: 1/h, burst: %d, per: route}", burst) }

// print writes the list of a place.
func (c *combination) print(b *strings.Builder, of *modelPlace, indent string) {
	for _, p := range of.places {
		keys := c.keysOf(p)
		if p.kind == "route" {
			keys = append([]string{"match: " + strconv.Quote(p.match)}, keys...)
			fmt.Fprintf(b, "%s- %s\n", indent, strings.Join(keys, "\n  "+indent))
			continue
		}
		fmt.Fprintf(b, "%s- group:\n", indent)
		for _, key := range append(keys, "routes:") {
			fmt.Fprintf(b, "%s    %s\n", indent, key)
		}
		c.print(b, p, indent+"    ")
	}
}

// keysOf returns the lines of the keys of a place.
func (c *combination) keysOf(p *modelPlace) (lines []string) {
	keys := maps.Clone(p.keys)
	if p.kind == "group" {
		for key, value := range map[string]string{"name": p.name, "prefix": p.prefix} {
			if value != "" {
				keys[key] = value
			}
		}
		if p.hosts != nil {
			keys["hosts"] = p.hosts
		}
	}
	access := map[string]any{}
	if p.allow != nil {
		access["allow"] = p.allow
	}
	if p.deny != "" {
		access["deny"] = p.deny
	}
	if len(access) > 0 {
		keys["access"] = access
	}
	for key, value := range keys {
		if m, ok := value.(map[string]any); ok && key == "compress" && len(m) == 0 {
			value = true
		}
		line := key + ": " + c.flow(value)
		if key == "limits" && p.burst > 0 {
			line = strings.TrimSuffix(line, "}") + ", rate: " + rateOf(p.burst) + "}"
		}
		lines = append(lines, line)
	}
	if _, given := keys["limits"]; !given && p.burst > 0 {
		lines = append(lines, "limits: {rate: "+rateOf(p.burst)+"}")
	}
	if p.action != "" {
		lines = append(lines, actions[p.action].line)
	}
	sort.Strings(lines)
	return lines
}

// flow returns a value in YAML.
func (c *combination) flow(value any) string {
	switch v := value.(type) {
	case off:
		return "off"
	case string:
		return strconv.Quote(v)
	case []string:
		var all []string
		for _, s := range v {
			all = append(all, strconv.Quote(s))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case map[string]any:
		var all []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text := key
			if strings.HasPrefix(key, "X-") && len(key)%2 == 1 {
				text = strings.ToLower(key)
			}
			all = append(all, text+": "+c.flow(v[key]))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	return fmt.Sprint(value)
}

// admits reports whether the access of a place admits a client.
func (p *modelPlace) admits(client string) bool {
	addr := netip.MustParseAddr(client)
	in := func(network string) bool {
		if !strings.Contains(network, "/") {
			network += "/32"
		}
		return netip.MustParsePrefix(network).Contains(addr)
	}
	if p.deny != "" && in(p.deny) {
		return false
	}
	return p.allow == nil || slices.ContainsFunc(p.allow, in)
}

// count counts a request in the rate of a place, and reports whether it passes.
func (p *modelPlace) count() bool {
	if p.burst == 0 {
		return true
	}
	if p.requested == p.burst {
		return false
	}
	p.requested++
	return true
}
