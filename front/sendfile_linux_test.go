package front_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// written returns how many bytes the process has written by write(2) and sendfile(2), but not by sendto(2).
func written(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	_, after, _ := strings.Cut(string(text), "wchar: ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLargeFilesAreNotCopied checks that the kernel sends a large file, and only where it can. The loops send all other
// bytes by sendto(2).
func TestLargeFilesAreNotCopied(t *testing.T) {
	if os.Getenv("WEIR_ENGINE") == "goroutines" {
		t.Skip("connections of package net use write(2)")
	}
	content := text(16 << 20)
	f := newFolder(t, map[string]string{"big": content})
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	before := written(t)
	if resp, body := get(t, httpClient(t), d.url("/big")); resp.StatusCode != 200 || body != content {
		t.Fatalf("%s, %d bytes", resp.Status, len(body))
	}
	if n := written(t) - before; n < len(content) {
		t.Errorf("the kernel sent %d bytes of %d", n, len(content))
	}
	before = written(t)
	if _, body := get(t, h2cClient(t), d.url("/big")); body != content {
		t.Fatalf("HTTP/2: %d bytes", len(body))
	}
	if n := written(t) - before; n > len(content)/2 {
		t.Errorf("HTTP/2: the kernel sent %d bytes", n)
	}
}
