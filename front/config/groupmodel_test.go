package config_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/edits"
)

// FuzzGroups generates files with defaults, nested groups and off, and compares each with a file without them, which a
// naive model makes: it keeps the value of each path in a map, in which an inner place writes over an outer one.
func FuzzGroups(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := &fileOfGroups{random: rand.New(rand.NewPCG(seed, 1))}
		outer := place{values: map[string]string{}}
		defaults, inner := g.place(outer, "defaults")
		g.list(inner, 0, "")
		text := ups + "defaults: " + defaults + "\nroutes:\n" + g.text.String()
		same := ups + "routes:\n" + g.flat.String()
		ignored := []cmp.Option{
			cmpopts.IgnoreFields(config.Route{}, "Position", "Settings", "Access"), cmpopts.EquateEmpty(),
			cmpopts.EquateComparable(netip.Prefix{}), cmpopts.SortSlices(func(a, b config.Field) bool { return a.Name < b.Name }),
			cmpopts.SortSlices(func(a, b edits.Field) bool { return a.Name < b.Name }),
		}
		got := parse(t, text, nil)
		if diff := cmp.Diff(parse(t, same, nil).Routes, got.Routes, ignored...); diff != "" {
			t.Errorf("%s\ndiffers from\n%s(-want +got):\n%s", text, same, diff)
		}
		for i, r := range got.Routes {
			var denied []string
			for _, a := range r.Access {
				denied = append(denied, a.Deny[0].Addr().String())
			}
			if i < len(g.denied) && !slices.Equal(denied, g.denied[i]) {
				t.Errorf("%s\nroute %d denies %q, want %q", text, i, denied, g.denied[i])
			}
		}
	})
}

// A place is the values of the model: of all paths, and of the patterns.
type place struct {
	values map[string]string // with paths such as timeout.try; "{}" is a mapping with its defaults
	action string            // the key of the action; "" for none
	hosts  []string
	prefix string
	denied []string
}

// fileOfGroups is a pair of files that is being made: with groups, and without.
type fileOfGroups struct {
	random     *rand.Rand
	text, flat strings.Builder
	denied     [][]string
	unique     int
}

func (g *fileOfGroups) one(in int) bool { return g.random.IntN(in) == 0 }

func (g *fileOfGroups) next() int { g.unique++; return g.unique }

// set sets the value at a path as an inner place does: values at the paths above and below are gone, except that the
// mappings above stay.
func (p *place) set(path, value string) {
	maps.DeleteFunc(p.values, func(other, _ string) bool { return strings.HasPrefix(other, path+".") || other == path })
	for above := path; strings.Contains(above, "."); {
		above = above[:strings.LastIndexByte(above, '.')]
		delete(p.values, above) // off, or a mapping without keys
	}
	p.values[path] = value
}

// has reports whether there is a value at a path or below.
func (p *place) has(path string) bool {
	for other := range p.values {
		if other == path || strings.HasPrefix(other, path+".") {
			return true
		}
	}
	return false
}

// forwarded are the keys that have a meaning only for forwarded requests: in a route itself, they would be a mistake
// beside another action.
var forwarded = []string{"request_headers", "timeout", "upgrade"}

// place returns keys in YAML, and the place with them inside of another one.
func (g *fileOfGroups) place(outer place, kind string) (text string, inner place) {
	p := outer
	p.values, p.denied = maps.Clone(outer.values), slices.Clone(outer.denied)
	var keys []string
	add := func(format string, args ...any) { keys = append(keys, fmt.Sprintf(format, args...)) }
	if kind != "defaults" && (p.action == "" || g.one(3)) {
		add("%s", g.act(&p, kind))
	}
	forwards := kind != "route" || p.action == "to"
	for _, headers := range []string{"request_headers", "response_headers"} {
		if headers == "request_headers" && !forwards {
			continue
		}
		var edits []string
		for _, name := range []string{"X-A", "X-B"} {
			path := headers + ".set." + name
			switch {
			case !g.one(3):
			case p.has(path) && g.one(2):
				delete(p.values, path)
				edits = append(edits, strings.ToLower(name)+": off")
			default:
				p.set(path, fmt.Sprint("v", g.next()))
				edits = append(edits, name+": "+p.values[path])
			}
		}
		if edits != nil {
			add("%s: {set: {%s}}", headers, strings.Join(edits, ", "))
		}
	}
	switch g.random.IntN(6) {
	case 0:
		p.set("compress", "off")
		add("compress: off")
	case 1:
		if p.values["compress"] == "off" || !p.has("compress") {
			p.set("compress", "true")
		}
		add("compress: true")
	case 2:
		p.set("compress.level", fmt.Sprint(1+g.random.IntN(6)))
		add("compress: {level: %s}", p.values["compress.level"])
	}
	switch n := g.random.IntN(5); {
	case !forwards:
	case n == 0:
		p.set("timeout.silence", fmt.Sprint(100+g.next(), "s"))
		add("timeout: %s", p.values["timeout.silence"])
	case n == 1:
		off := p.values["timeout"] == "off"
		p.set("timeout.total", fmt.Sprint(1+g.next(), "h"))
		if off {
			p.set("timeout.silence", "off")
		}
		add("timeout: {total: %s}", p.values["timeout.total"])
	case n == 2:
		p.set("timeout", "off")
		add("timeout: off")
	}
	switch g.random.IntN(5) {
	case 0:
		p.set("maintenance.active", fmt.Sprint(g.one(2)))
		add("maintenance: %s", p.values["maintenance.active"])
	case 1:
		p.set("maintenance.retry_after", fmt.Sprint(g.next(), "s"))
		add("maintenance: {retry_after: %s}", p.values["maintenance.retry_after"])
	}
	if forwards && g.one(4) {
		p.set("upgrade", fmt.Sprint("[p", g.next(), ", q]"))
		add("upgrade: %s", p.values["upgrade"])
	}
	if g.one(4) {
		p.set(fmt.Sprint("log.fields.f", g.random.IntN(2)), fmt.Sprint("t", g.next()))
		last := fmt.Sprint("t", g.unique)
		for path, value := range p.values {
			if value == last {
				add("log: {fields: {%s: %s}}", strings.TrimPrefix(path, "log.fields."), value)
			}
		}
	}
	if kind != "defaults" && g.one(4) {
		client := fmt.Sprintf("10.0.%d.%d", g.next()/256, g.unique%256)
		p.denied = append(p.denied, client)
		add("access: {deny: %s}", client)
	}
	return "{" + strings.Join(keys, ", ") + "}", p
}

// act gives a place an action, or takes one from a group, and returns it in YAML. Values of the same action stay.
func (g *fileOfGroups) act(p *place, kind string) string {
	if outer := p.action; kind == "group" && outer != "" && g.one(8) {
		p.drop(outer)
		return outer + ": off"
	}
	action := []string{"to", "respond", "redirect", "files"}[g.random.IntN(4)]
	if action != p.action {
		p.drop(p.action)
		p.action = action
	}
	var short, other, value string // the values of the key of the short form, and of another one
	switch g.next(); action {
	case "to":
		p.values["to"] = []string{"a", "b"}[g.random.IntN(2)]
		return "to: " + p.values["to"]
	case "respond":
		short, other, value = "status", "text", fmt.Sprint("t", g.unique)
	case "redirect":
		short, other, value = "to", "status", []string{"301", "302", "308"}[g.random.IntN(3)]
	case "files":
		short, other, value = "root", "cache_control", fmt.Sprint("max-age=", g.unique)
	}
	first := map[string]string{"respond": fmt.Sprint(400 + g.random.IntN(9)), "redirect": fmt.Sprint("/e", g.unique), "files": ".."}[action]
	short, other = action+"."+short, action+"."+other
	switch {
	case g.one(3):
		p.set(short, first)
		return action + ": " + first
	case !p.has(short):
		p.set(short, first)
		p.set(other, value)
		return p.yaml(action)
	case p.has(other) && g.one(2):
		delete(p.values, other)
		value = "off"
	default:
		p.set(other, value)
	}
	return action + ": {" + strings.TrimPrefix(other, action+".") + ": " + value + "}"
}

// drop removes an action.
func (p *place) drop(action string) {
	maps.DeleteFunc(p.values, func(path, _ string) bool { return path == action || strings.HasPrefix(path, action+".") })
	p.action = ""
}

// list writes the entries of a list of routes.
func (g *fileOfGroups) list(outer place, depth int, indent string) {
	for range 1 + g.random.IntN(3) {
		kind := "group"
		if depth == 3 || g.one(2) {
			kind = "route"
		}
		keys, inner := g.place(outer, kind)
		keys = strings.TrimSuffix(strings.TrimPrefix(keys, "{"), "}")
		if kind == "route" {
			path := fmt.Sprint("/r", g.next())
			fmt.Fprintf(&g.text, "%s- {%s}\n", indent, strings.Join(append([]string{"match: " + path}, splitKeys(keys)...), ", "))
			g.route(inner, path)
			continue
		}
		fmt.Fprintf(&g.text, "%s- group:\n", indent)
		if g.one(3) {
			inner.prefix += fmt.Sprint("/g", g.next())
			fmt.Fprintf(&g.text, "%s    prefix: %s\n", indent, inner.prefix[strings.LastIndexByte(inner.prefix, '/'):])
		}
		if g.one(3) {
			inner.hosts = []string{"a.example", "b.example"}[:1+g.random.IntN(2)]
			fmt.Fprintf(&g.text, "%s    hosts: [%s]\n", indent, strings.Join(inner.hosts, ", "))
		}
		for _, key := range splitKeys(keys) {
			fmt.Fprintf(&g.text, "%s    %s\n", indent, key)
		}
		fmt.Fprintf(&g.text, "%s    routes:\n", indent)
		g.list(inner, depth+1, indent+"    ")
	}
}

// splitKeys splits keys of a mapping in one line.
func splitKeys(text string) (keys []string) {
	depth, begin := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				keys, begin = append(keys, text[begin:i]), i+2
			}
		}
	}
	if begin < len(text) {
		keys = append(keys, text[begin:])
	}
	return keys
}

// route writes a route without groups, once for each host.
func (g *fileOfGroups) route(p place, path string) {
	hosts := p.hosts
	if hosts == nil {
		hosts = []string{""}
	}
	for _, host := range hosts {
		fmt.Fprintf(&g.flat, "- match: %s\n  %s\n", host+p.prefix+path, p.yaml(p.action))
		forwards := p.action == "to"
		for _, key := range []string{"request_headers", "response_headers", "compress", "timeout", "maintenance", "upgrade", "log"} {
			if !p.has(key) || !forwards && slices.Contains(forwarded, key) {
				continue
			}
			fmt.Fprintf(&g.flat, "  %s\n", p.yaml(key))
		}
		g.denied = append(g.denied, p.denied)
	}
}

// yaml returns the key at a path with its value.
func (p *place) yaml(path string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	if value, single := p.values[path]; single {
		return name + ": " + value
	}
	below := map[string]bool{}
	for other := range p.values {
		if rest, ok := strings.CutPrefix(other, path+"."); ok {
			first, _, _ := strings.Cut(rest, ".")
			below[first] = true
		}
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(below)) {
		all = append(all, p.yaml(path+"."+key))
	}
	return name + ": {" + strings.Join(all, ", ") + "}"
}
