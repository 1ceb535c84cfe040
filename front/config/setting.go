package config

import (
	"cmp"
	"math"
	"slices"

	"github.com/weirhq/weir/internal/redisurl"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Setting is a key of a route and its value as in the file, in YAML on one line. Variables are not replaced, and the
// passwords of users are left out. The keys of a mapping with values from several places are settings of their own, as
// in timeout.total.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"` // "route", "defaults", or "group" and the name of the group if it has one
	Position
}

// FromRoute is the value of [Setting.From] for the keys of a route itself.
const FromRoute = "route"

// settings returns the keys of the mapping of a route, with the values that it inherits.
func settings(n *yamlfile.Node) (all []Setting) {
	for _, pair := range n.Pairs {
		all = appendSettings(all, "", shown(pair))
	}
	return all
}

// ownFirst sorts the settings of a route itself before the inherited ones, in the order of their lines.
func ownFirst(all []Setting) []Setting {
	order := func(s Setting) int {
		if s.From == FromRoute {
			return s.Line
		}
		return math.MaxInt
	}
	slices.SortStableFunc(all, func(a, b Setting) int { return cmp.Compare(order(a), order(b)) })
	return all
}

// appendSettings appends a pair of a mapping, whose path is the prefix.
func appendSettings(all []Setting, prefix string, pair yamlfile.Pair) []Setting {
	if !isOfOnePlace(pair.Value, pair.Key.Pos.Outer()) {
		for _, below := range pair.Value.Pairs {
			all = appendSettings(all, prefix+pair.Key.Text+".", below)
		}
		return all
	}
	from := FromRoute
	if outer := pair.Key.Pos.Outer(); outer != nil {
		from = outer.Name
	}
	return append(all, Setting{
		Key: prefix + pair.Key.Text, Value: pair.Value.Flow(), From: from,
		Position: Position{pair.Key.Pos.FileName(), pair.Key.Pos.Line},
	})
}

// isOfOnePlace reports whether all keys in n are from the same place.
func isOfOnePlace(n *yamlfile.Node, place *yamlfile.Outer) bool {
	for _, pair := range n.Pairs {
		if !pair.Key.Pos.Outer().Same(place) || !isOfOnePlace(pair.Value, place) {
			return false
		}
	}
	return true
}

// shown returns a key of a route with the value that may be shown.
func shown(pair yamlfile.Pair) yamlfile.Pair {
	switch pair.Key.Text {
	case "basic_auth":
		pair.Value = withoutPasswords(pair.Value)
	case "limits":
		pair.Value = withoutStorePasswords(pair.Value)
	}
	return pair
}

// withoutPasswords returns the value of basic_auth with the names of the users only.
func withoutPasswords(n *yamlfile.Node) *yamlfile.Node {
	shown := *n
	shown.Pairs = nil
	for _, pair := range n.Pairs {
		if pair.Key.Text == "users" && pair.Value.Kind == yamlfile.Mapping { // and not the path of a file
			var names []string
			for _, user := range pair.Value.Pairs {
				names = append(names, user.Key.Text)
			}
			pair.Value = yamlfile.Of(names)
		}
		shown.Pairs = append(shown.Pairs, pair)
	}
	return &shown
}

// withoutStorePasswords returns the value of limits with the URLs of stores without user and password.
func withoutStorePasswords(n *yamlfile.Node) *yamlfile.Node {
	shown := *n
	shown.Pairs = nil
	for _, pair := range n.Pairs {
		switch {
		case pair.Key.Text == "shared" && pair.Value.Kind == yamlfile.Single:
			name := "[redacted]"
			if u, err := redisurl.Parse(pair.Value.Text); err == nil {
				u.User, u.Password = "", ""
				name = u.String()
			}
			pair.Value = yamlfile.Of(name)
		case pair.Value.Kind == yamlfile.Mapping:
			pair.Value = withoutStorePasswords(pair.Value)
		}
		shown.Pairs = append(shown.Pairs, pair)
	}
	return &shown
}
