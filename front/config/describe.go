package config

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/yamlfile"
)

// describe returns the descriptions of keys by their paths. The keys describe themselves: each is asked in their order,
// so that its parents have filled in their defaults.
func describe(keys []key) map[string]*yamlfile.Description {
	r, _ := newReader("weir.yaml", nil, nil)
	r.Schema = keys
	to := filling{
		reader:   r,
		upstream: upstreams.New(""),
		route:    &routeDraft{Route: DefaultRoute("", ""), pattern: template.AnyPattern()},
		outer:    newScope(),
		group:    new(groupDraft),
	}
	to.route.Limits = r.config.Limits.RequestLimits // the limits of a request without those of its route
	all := map[string]*yamlfile.Description{}
	for _, k := range keys {
		d := r.Describe(k, to)
		for _, read := range r.routeLists {
			read()
		}
		r.routeLists = nil
		all[k.Path] = d
	}
	if routes := all[routePath+".group.routes"]; routes != nil {
		*routes = *all["routes"] // readGroup reads them as readRoutes does
	}
	return all
}

// placesOf returns the places of a file in which a key can be.
func placesOf(path string) []string {
	top, rest, _ := strings.Cut(path, ".")
	switch {
	case strings.HasPrefix(path, routePath+".group."):
		return []string{"group"}
	case path == routePath+".group":
		return []string{"routes"}
	case path == routePath:
		return []string{"routes"}
	case top == "routes" && rest != "":
		return append(alsoIn(path), "route")
	case top == "upstreams" && rest != "" && rest != "*":
		return []string{"upstream"}
	case slices.Contains(includable, top):
		return []string{"top", "included file"}
	}
	return []string{"top"}
}

// combining returns how the value of a key combines with that of an outer place, or of another file.
func combining(k key, all map[string]*yamlfile.Description) string {
	name, ofRoute := strings.CutPrefix(k.Path, routePath+".")
	if !ofRoute {
		if slices.Contains(includable, k.Path) {
			return "adds up over the files"
		}
		return ""
	}
	isMapping := slices.ContainsFunc(schema, func(other key) bool { return strings.HasPrefix(other.Path, k.Path+".") })
	isMapping = isMapping && !all[k.Path].List
	switch inside := placeRule(k.Path); {
	case name == "group" || inside == own:
		return "own"
	case inside == addsUp:
		return "adds up"
	case inElement(k.Path):
		return "with its list"
	case slices.Contains(actionNames, name) && isMapping:
		return "merges, replaces other actions"
	case slices.Contains(actionNames, name):
		return "replaces any action"
	case isMapping:
		return "merges"
	case k.AnyCase:
		return "replaces, in any case of the name"
	}
	return "replaces"
}

// isInherited reports whether routes inherit a key by itself.
func isInherited(path string) bool {
	name, ofRoute := strings.CutPrefix(path, routePath+".")
	outermost, _, _ := strings.Cut(name, ".")
	return ofRoute && outermost != "group" && placeRule(path) == inherited && !inElement(path)
}

// A rule says whether keys are inherited.
type rule uint8

const (
	inherited rule = iota
	own            // each place has its own
	addsUp         // the values of all places apply
)

// placeRule returns the rule of a key, or of a key that contains it.
func placeRule(path string) rule {
	for _, k := range schema {
		switch {
		case !k.Local || path != k.Path && !strings.HasPrefix(path, k.Path+"."):
		case k.AddsUp:
			return addsUp
		default:
			return own
		}
	}
	return inherited
}

// alsoIn returns the places around a route in which a key of a route can be.
func alsoIn(path string) (places []string) {
	if !strings.HasPrefix(path, routePath+".") || path == routePath+".group" || strings.HasPrefix(path, routePath+".group.") {
		return nil
	}
	for _, place := range []struct {
		name   string
		refuse func(key) (why, hint string)
	}{{"defaults", refusedInDefaults}, {"group", refusedInGroup}} {
		if !isRefused(schema, path, place.refuse) {
			places = append(places, place.name)
		}
	}
	return places
}

// isRefused reports whether a place refuses one of some keys of a route, or one that contains it.
func isRefused(keys []key, path string, refuse func(key) (why, hint string)) bool {
	for _, k := range keys {
		if why, _ := refuse(k); why != "" && (path == k.Path || strings.HasPrefix(path, k.Path+".")) {
			return true
		}
	}
	return false
}
