package config

import (
	"fmt"

	"github.com/weirhq/weir/internal/redisurl"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A Position is the place of a route or a redirect in a file.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"` // 1-based
}

// String returns FILE:LINE.
func (p Position) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// A Setting is a key of a route and its value as in the file, in YAML on one line.
// Variables are not replaced, and the passwords of users are left out.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// settings returns the keys of a mapping.
func settings(n *yamlfile.Node) (all []Setting) {
	for _, pair := range n.Pairs {
		value := pair.Value
		switch pair.Key.Text {
		case "basic_auth":
			value = withoutPasswords(value)
		case "limits":
			value = withoutStorePasswords(value)
		}
		all = append(all, Setting{pair.Key.Text, value.Flow()})
	}
	return all
}

// withoutPasswords returns the value of basic_auth with the names of the users only.
func withoutPasswords(n *yamlfile.Node) *yamlfile.Node {
	shown := *n
	shown.Pairs = nil
	for _, pair := range n.Pairs {
		if pair.Key.Text == "users" {
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

// withoutStorePasswords returns the value of limits with only the servers of the URLs of stores.
func withoutStorePasswords(n *yamlfile.Node) *yamlfile.Node {
	shown := *n
	shown.Pairs = nil
	for _, pair := range n.Pairs {
		switch {
		case pair.Key.Text == "shared" && pair.Value.Kind == yamlfile.Single:
			name := "[redacted]"
			if u, err := redisurl.Parse(pair.Value.Text); err == nil {
				name = u.Name()
			}
			pair.Value = yamlfile.Of(name)
		case pair.Value.Kind == yamlfile.Mapping:
			pair.Value = withoutStorePasswords(pair.Value)
		}
		shown.Pairs = append(shown.Pairs, pair)
	}
	return &shown
}
