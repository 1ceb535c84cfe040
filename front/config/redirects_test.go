package config_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

// withRedirects is a configuration with the file of redirects r.csv.
const withRedirects = "redirects: r.csv\n" + smallest

// The path is relative to the folder of the configuration. Only a regular file
// is read.
func TestRedirectsFileIsRelativeToTheFolder(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct{ name, want string }{
		{"r.csv", `1:12 "` + folder + `/r.csv"|no such file|relative to the folder`},
		{"/no/such/r.csv", `1:12 "/no/such/r.csv"|no such file`},
		{".", `1:12 not a regular file`},
		{"/dev/zero", `1:12 not a regular file`},
	} {
		src := fmt.Sprintf("redirects: %s\n%s", c.name, smallest)
		_, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte(src), nil)
		var ms config.Mistakes
		if !errors.As(err, &ms) {
			t.Fatalf("%s: the error is %v", c.name, err)
		}
		mistaketest.Want(t, ms, []string{c.want})
	}
}

// The mistakes of both files are reported together, first those of the
// configuration.
func TestParseRedirectsReportsBothFiles(t *testing.T) {
	_, err := configtest.ParseBeside(t, "lisen: x\n"+withRedirects, "r.csv", "a,/b\n")
	var ms config.Mistakes
	if !errors.As(err, &ms) {
		t.Fatal(err)
	}
	mistaketest.Want(t, ms, []string{`1:1 "lisen"`, `1:1 no path`})
}
