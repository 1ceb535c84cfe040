package front_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// text returns a text of the given length in which no two lines are the same.
func text(length int) string {
	var b strings.Builder
	for i := 0; b.Len() < length; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()[:length]
}

// TestSentBytesAreThoseOfTheFile requests files of many lengths with fast and slow clients at the same time.
func TestSentBytesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	contents := map[string]string{}
	for _, length := range []int{0, 1, 4 << 10, 32<<10 - 1, 32 << 10, 64 << 10, 1<<20 + 1, 5 << 20} {
		contents[fmt.Sprint(length)] = text(length)
	}
	f := newFolder(t, contents)
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	client := httpClient(t)
	ended := make(chan error)
	const clients = 8
	for i := range clients {
		go func() {
			for name, want := range contents {
				if err := readSlowly(client, d.url("/"+name), want, i%2 == 0); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	for range clients {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for name, content := range contents {
		if e := d.completed(t, "/"+name); e.HTTP.ResponseContentLength != int64(len(content)) || e.Data["failure"] != nil {
			t.Errorf("%s: %s", name, e.raw)
		}
	}
}

// readSlowly compares a response with a text. A slow client reads 1 KiB at a time.
func readSlowly(client *http.Client, url, want string, slow bool) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var got strings.Builder
	if slow {
		_, err = io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{resp.Body}, make([]byte, 1<<10))
	} else {
		_, err = io.Copy(&got, resp.Body)
	}
	if got.String() != want || resp.StatusCode != 200 {
		return fmt.Errorf("%s: %s, %d bytes of %d, %v", url, resp.Status, got.Len(), len(want), err)
	}
	return err
}

// TestClientThatLeavesDuringAFileIsReported closes a connection in the middle of a long file.
func TestClientThatLeavesDuringAFileIsReported(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than the sockets hold
	f := newFolder(t, map[string]string{"big": ""})
	if err := os.Truncate(filepath.Join(string(f), "big"), size); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	c := dial(t, d.addr)
	c.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := io.ReadFull(c, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	e := d.completed(t, "/big")
	if e.Data["failure"] != "client_gone" || e.Data["cut"] != true || e.HTTP.ResponseContentLength >= size {
		t.Errorf("the event is %s", e.raw)
	}
}

// TestPipelinedRequestsGetFilesInTurn requests files, ranges and heads in one write, and reads late.
func TestPipelinedRequestsGetFilesInTurn(t *testing.T) {
	t.Parallel()
	big := text(3 << 20)
	f := newFolder(t, map[string]string{"big": big, "small": "small"})
	d := openDoor(t, upstream(t, hello).URL, routes(f.route("/{path...}")))
	c := dial(t, d.addr)
	head := func(method, path, fields string) string {
		return method + " " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"
	}
	for range 3 {
		c.send(head("GET", "/big", "") + head("HEAD", "/big", "") + head("GET", "/small", "") +
			head("GET", "/big", "Range: bytes=100000-2000000\r\n") +
			head("GET", "/big", "Range: bytes=0-99999,1000000-1099999\r\n"))
		if _, body := c.response("GET"); body != big {
			t.Fatalf("the file has %d bytes", len(body))
		}
		if resp, _ := c.response("HEAD"); resp.ContentLength != int64(len(big)) {
			t.Fatalf("HEAD has length %d", resp.ContentLength)
		}
		if _, body := c.response("GET"); body != "small" {
			t.Fatalf("the small file is %q", body)
		}
		if resp, body := c.response("GET"); resp.StatusCode != 206 || body != big[100000:2000001] {
			t.Fatalf("%s, the range has %d bytes", resp.Status, len(body))
		}
		resp, body := c.response("GET")
		if resp.StatusCode != 206 || !strings.Contains(body, "\r\n\r\n"+big[:100000]+"\r\n--") ||
			!strings.Contains(body, "\r\n\r\n"+big[1000000:1100000]+"\r\n--") {
			t.Fatalf("%s, the ranges have %d bytes", resp.Status, len(body))
		}
	}
}
