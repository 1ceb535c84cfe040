package labcmd

import (
	"errors"
	"os"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/lab/micro"
)

// TestBareFolderGetsAHint names a folder without ./ before it, which go list takes for a
// package of the standard library.
func TestBareFolderGetsAHint(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("go.mod", []byte("module example.com/m\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("router", 0o777); err != nil {
		t.Fatal(err)
	}
	c := &microCommand{Packages: []string{"./log", "router"}}
	_, err := micro.Run(t.Context(), micro.Options{A: ".", B: ".", Packages: c.Packages, Bench: ".",
		Time: "1x", Count: 1})
	var hinted *cli.Error
	if !errors.As(c.bareFolder(err), &hinted) || hinted.Hint != "weir lab micro ./router" {
		t.Errorf("error %v, %+v, want the hint to add ./", err, hinted)
	}
	if other := errors.New("no benchmark matches"); c.bareFolder(other) != other {
		t.Errorf("%q became %q, want no change", other, c.bareFolder(other))
	}
}
