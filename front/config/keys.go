package config

import (
	"maps"
	"slices"
	"strings"
)

// A Key is a key of a configuration, as the manual has it.
type Key struct {
	Path    string   // such as routes.match of each route, or upstreams.NAME.servers for any name
	Meaning string   // a part of a sentence; "" if Short is not
	Short   string   // the key for which Path is a short form, or ""
	AlsoIn  []string // places other than Path in which it can be: defaults, group
}

// Keys returns all keys, sorted by path. Keys that only contain others are missing.
func Keys() []Key {
	all := map[string]Key{}
	for _, k := range schema {
		if path := manualPath(k.Path); k.Doc != "" {
			all[path] = Key{Path: path, Meaning: k.Doc, AlsoIn: alsoIn(k.Path)}
		}
	}
	for _, k := range schema {
		path, long := manualPath(k.Path), manualPath(k.Path+"."+k.Short)
		if _, name := k.Parent(); k.Short != "" && k.Doc == "" && name != "*" && all[long].Meaning != "" {
			all[path] = Key{Path: path, Short: long, AlsoIn: alsoIn(k.Path)}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Key) int { return strings.Compare(a.Path, b.Path) })
}

// manualPath returns the name of a key in the manual.
func manualPath(path string) string {
	path = strings.NewReplacer(".*.", ".NAME.", ".*", ".NAME").Replace(path)
	return strings.NewReplacer("routes.NAME.", "routes.", "split.NAME.", "split.", "servers.NAME.", "servers.",
		"certificates.NAME.", "certificates.").Replace(path)
}
