package proxying_test

import (
	"io"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// malformed are responses that no parser should repair. Those in the second
// half have a valid head.
var malformed = []string{
	"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk",
	"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA b\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: \x00\r\nContent-Length: 0\r\n\r\n",

	chunkedHead + "xyz\r\nok\r\n0\r\n\r\n",
	chunkedHead + "\r\nok\r\n0\r\n\r\n",
	chunkedHead + "-2\r\nok\r\n0\r\n\r\n",
	chunkedHead + "2\nok\r\n0\r\n\r\n",
	chunkedHead + "2\r\nokay\r\n0\r\n\r\n",
	chunkedHead + "ffffffffffffffff\r\nok",
	chunkedHead + "2;a=\x01\r\nok\r\n0\r\n\r\n",
	chunkedHead + "2\r\nok\r\n0\r\nA b\r\n\r\n",
	chunkedHead + "2\r\nok\r\n2\r\nok\r\n0\r\nA: b\n\r\n",
}

// TestMalformedResponsesGet502 checks that a malformed response of which nothing was
// passed on gets 502, even if its head was valid and arrived in the same
// packet. (D19)
func TestMalformedResponsesGet502(t *testing.T) {
	t.Parallel()
	for i, answer := range malformed {
		splits := []int{len(answer)}
		if !strings.HasPrefix(answer, chunkedHead) {
			splits = append(splits, 10)
		}
		for _, split := range splits {
			o := openOrigin(t, func(w *wire) {
				if _, err := w.readHead(); err == nil {
					w.say(answer[:split])
					w.say(answer[split:])
				}
			})
			d := openDoor(t, nil, o.url)
			for _, protocol := range []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2"} {
				got, out := ask(t, d, protocol, make(chan struct{})), d.outcome()
				if got.status != 502 || got.err != nil || out.status != 502 || out.kind != proxying.BadResponse || out.cut {
					t.Errorf("answer %d split at %d to %s: status %d, %v; outcome %d, %v", i, split, protocol,
						got.status, got.err, out.status, out.err)
				}
			}
		}
	}
}

// TestMalformedResponsesNeverLookComplete checks that a response that is malformed after its
// head was passed on never looks complete.
func TestMalformedResponsesNeverLookComplete(t *testing.T) {
	t.Parallel()
	for i, answer := range malformed {
		body, ok := strings.CutPrefix(answer, chunkedHead)
		if !ok {
			continue
		}
		for _, major := range []int{1, 2} {
			passed := make(chan struct{})
			o := openOrigin(t, func(w *wire) {
				if _, err := w.readHead(); err == nil {
					w.say(chunkedHead)
					<-passed
					w.say(body)
				}
			})
			d := openDoor(t, nil, o.url)
			resp, err := d.client(major).Get(d.URL)
			close(passed)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if out := d.outcome(); err == nil || resp.StatusCode != 200 || out.kind != proxying.BadResponse || !out.cut {
				t.Errorf("answer %d over HTTP/%d: status %d, body ends with %v; outcome %v, cut %v", i, major,
					resp.StatusCode, err, out.err, out.cut)
			}
		}
	}
}

// TestPaddedChunkSizeIsAccepted checks that a chunk size padded with blanks is accepted.
// Some servers send it.
func TestPaddedChunkSizeIsAccepted(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, answering(chunkedHead+"2  \r\nok\r\n3\t ;a=b\r\nay!\r\n0 \r\n\r\n", nil))
	d := openDoor(t, nil, o.url)
	if got := ask(t, d, "HTTP/1.1", make(chan struct{})); got.status != 200 || got.body != "okay!" || got.err != nil {
		t.Errorf("%d %q, %v; want 200 \"okay!\"", got.status, got.body, got.err)
	}
}

// TestMaxFieldsRaisesTheLimit checks that an upstream can have a higher limit of fields.
func TestMaxFieldsRaisesTheLimit(t *testing.T) {
	t.Parallel()
	for fields, want := range map[int]int{300: 200, 301: 502} {
		o := openOrigin(t, answering("HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", fields-1)+
			"Content-Length: 0\r\n\r\n", nil))
		d := openDoor(t, func(p *proxying.Proxy) { p.Upstream = openUpstream(t, proxying.Options{MaxFields: 300}, o.url) })
		if got := ask(t, d, "HTTP/1.1", make(chan struct{})); got.status != want {
			t.Errorf("%d fields: status %d, want %d", fields, got.status, want)
		}
	}
}
