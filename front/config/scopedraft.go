package config

import (
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/internal/yamlfile"
)

// A scope is a place around routes with values that they inherit: defaults, or a group.
type scope struct {
	values   *yamlfile.Node   // with the values that the scope inherits itself
	hosts    []string         // of the patterns of the routes; empty for any
	prefix   string           // of the paths of these patterns
	parts    []*patternPart   // of which hosts and prefix are made
	access   []*access.Config // of the groups, from the outermost
	groups   []string         // the groups with limits that count, from the outermost
	settings []Setting        // that apply in addition to those of the routes
}

// routePath is the path in the schema of a route, and of the scopes around it while they are read.
const routePath = "routes.*"

// newScope returns the scope of the routes of files without defaults.
func newScope() *scope { return &scope{values: &yamlfile.Node{Kind: yamlfile.Mapping}} }

// actionNames are the keys of which a route has exactly one, and forwards those that forward requests.
var (
	actionNames = []string{"to", "split", "redirect", "respond", "files"}
	forwards    = []string{"to", "split"}
)

// A groupDraft has the keys of a group that routes do not have.
type groupDraft struct {
	name, prefix yamlfile.Scalar
	hasName      bool     // it has the key, perhaps with a mistake
	hosts        []string // nil if there are none in the file
	key          yamlfile.Scalar
	routes       *yamlfile.Node
}

// A patternPart is a host or a prefix, which is a part of the patterns in a group.
type patternPart struct {
	text yamlfile.Scalar
	bad  bool
}
