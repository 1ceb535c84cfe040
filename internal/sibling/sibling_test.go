package sibling_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/sibling"
)

// TestSendPassesOpenFiles passes open files to a process, which is this one.
func TestSendPassesOpenFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	name := fmt.Sprint("weir/test/", os.Getpid())
	l, err := sibling.Listen(name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := sibling.Listen(name); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
	var files []*os.File
	for i := range 200 {
		f, err := os.Create(filepath.Join(t.TempDir(), fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	sent := make(chan error, 1)
	go func() {
		c, pid, err := sibling.Accept(l)
		if err != nil || pid != os.Getpid() {
			sent <- fmt.Errorf("process %d: %w", pid, err)
			return
		}
		defer c.Close()
		sent <- sibling.Send(c, []byte("files"), files)
	}()
	c, err := sibling.Dial(name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	message, received, err := sibling.Receive(c)
	if err != nil || string(message) != "files" || len(received) != len(files) {
		t.Fatalf("got %q with %d files, %v", message, len(received), err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	for i, f := range received {
		fmt.Fprint(f, "hello")
		f.Close()
		if text, _ := os.ReadFile(files[i].Name()); string(text) != "hello" {
			t.Errorf("file %d holds %q", i, text)
		}
	}
}
