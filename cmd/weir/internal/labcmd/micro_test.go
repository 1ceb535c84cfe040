package labcmd

import (
	"errors"
	"os"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// A folder without ./ before it is none to go, which says that it is not in the
// standard library.
func TestBareFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("router", 0o777); err != nil {
		t.Fatal(err)
	}
	c := &microCommand{Packages: []string{"./log", "router"}}
	var p *cli.Error
	err := errors.New("go list: package router is not in std (/usr/lib/go/src/router)")
	if !errors.As(c.bareFolder(err), &p) || p.Hint != "weir lab micro ./router" {
		t.Errorf("of a folder without ./ the error is %+v, want the hint to add it", p)
	}
	if other := errors.New("no benchmark matches"); c.bareFolder(other) != other {
		t.Errorf("%q became %q, want it as it was", other, c.bareFolder(other))
	}
}
