package config

import "github.com/weirhq/weir/internal/yamlfile"

// formerKeys return the hints for keys that this file had before its first release, by their path, for the value that
// they have.
var formerKeys = map[string]func(value *yamlfile.Node) string{
	"upstreams.*.response_fields": now("max_response_fields"),
	// end
}

// now returns the hint for a key that has another name now.
func now(name string) func(*yamlfile.Node) string {
	return func(*yamlfile.Node) string { return "write " + name }
}
