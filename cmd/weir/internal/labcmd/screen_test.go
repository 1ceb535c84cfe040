package labcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/lab"
)

func TestClosedScreenPrintsNoProgress(t *testing.T) {
	t.Parallel()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	v := newScreen(cli.Streams{Out: stderr, Err: stderr}, false)
	v.show(lab.Progress{Line: "go vet"})
	v.Say("interrupted")
	v.Close()
	v.show(lab.Progress{Line: "go build"})
	if text, err := os.ReadFile(stderr.Name()); err != nil || string(text) != "go vet\nweir: interrupted\n" {
		t.Errorf("stderr is %q (%v), want the lines before Close", text, err)
	}
}
