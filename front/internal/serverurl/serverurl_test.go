package serverurl_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestFilesInURLsAreRelativeToTheirFolder reads a configuration in another folder than the working directory. The files
// that URLs name are relative to that folder: in the destinations of the log, and in the place of a list of servers.
func TestFilesInURLsAreRelativeToTheirFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"weir.creds", "token"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte("log: {to: [stderr, weir.log, /var/weir.log, "+
		"'nats://u@s/x?creds=weir.creds', 'otlp+http://s?headers=token&compression=none']}\n"+
		"upstreams: {a: {servers: {nats: 'nats://s/x/y?creds=weir.creds'}}}\nroutes: [{match: /, to: a}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	creds := url.QueryEscape(filepath.Join(folder, "weir.creds"))
	want := []string{"stderr", filepath.Join(folder, "weir.log"), "/var/weir.log", "nats://u@s/x?creds=" + creds,
		"otlp+http://s?compression=none&headers=" + url.QueryEscape(filepath.Join(folder, "token"))}
	if !slices.Equal(c.Log.To, want) {
		t.Errorf("%q, want %q", c.Log.To, want)
	}
	if got, want := c.Upstreams[0].List.NATS, "nats://s/x/y?creds="+creds; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
