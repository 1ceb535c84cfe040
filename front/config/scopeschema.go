package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// groupSchema returns the schema by which a group is read as if it was a route.
func groupSchema() []key {
	return scopeSchema("the group", refusedInGroup)
}

// refusedInGroup returns why a group cannot have a key of a route, and what to write, or "".
func refusedInGroup(k key) (why, hint string) {
	switch k.Path {
	case routePath + ".match":
		return "a group has no %s", "write prefix, and match in the routes of the group"
	case routePath + ".group":
		return "a %s is an entry of a list of routes", "move it to routes"
	}
	return "", ""
}

// defaultsSchema returns the schema by which defaults are read as if they were a route.
func defaultsSchema() []key {
	return scopeSchema("defaults", refusedInDefaults)
}

// refusedInDefaults is refusedInGroup for defaults.
func refusedInDefaults(k key) (why, hint string) {
	parent, name := k.Parent()
	switch {
	case parent == routePath+".limits" && k.Local:
		return "limits in defaults are those of a single request: not %s",
			"write it in limits at the top of the file, which count all requests"
	case parent == routePath && isOfRoutes(name, k):
		return "defaults have no %s", "write it in a group, or in a route"
	}
	return "", ""
}

// isOfRoutes reports whether a key says which requests a route gets, or what it does with them.
func isOfRoutes(name string, k key) bool {
	return name == "when" || name == "group" || k.Local && !k.AddsUp || slices.Contains(actionNames, name)
}

// asRoute returns the schema with the keys of a group as keys of a route.
func asRoute() []key {
	keys := slices.Clone(schema)
	for i := range keys {
		keys[i].Path = strings.Replace(keys[i].Path, routePath+".group.", routePath+".", 1)
	}
	return keys
}

// inElement reports whether a key of a route is in an element of a list, which is inherited with its list.
func inElement(path string) bool {
	return strings.Contains(strings.TrimPrefix(path, routePath+"."), ".*.")
}

// scopeSchema returns the schema with the keys of a group as keys of a route. refuse returns why a key of a route has no
// meaning in the scope, and what to write. Keys are required only where routes do not inherit the mapping.
func scopeSchema(called string, refuse func(key) (why, hint string)) (all []key) {
	for _, k := range asRoute() {
		name, ofRoute := strings.CutPrefix(k.Path, routePath+".")
		top, _, _ := strings.Cut(name, ".")
		switch why, hint := refuse(k); {
		case k.Path == routePath:
			k.Called = called
		case why != "":
			k = key{Path: k.Path, Read: func(r *fileReader, p place, _ *yamlfile.Node) {
				r.Mistakef(p.Key.Pos, hint, why, yamlfile.Quote(p.Key.Text))
			}}
		case ofRoute && !k.Local && top != "limits" && !inElement(k.Path):
			k.Required = ""
		}
		all = append(all, k)
	}
	return all
}
