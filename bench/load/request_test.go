package load

import (
	"fmt"
	"strings"
	"testing"
)

// TestReaderFindsRequestsHoweverCut checks that requests are counted for any boundaries between reads.
func TestReaderFindsRequestsHoweverCut(t *testing.T) {
	stream := "GET /7 HTTP/1.1\r\nHost: a\r\n\r\n" +
		"POST / HTTP/1.1\r\nHost: a\r\ncontent-length:  11\r\n\r\n\r\n\r\n hello\r\n" +
		"PUT /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n" +
		"GET /120?a=1 HTTP/1.0\r\n\r\n"
	const want = "7 -1 -1 120"
	for size := 1; size <= len(stream); size++ {
		var r reader
		var got []string
		for rest := stream; rest != ""; {
			part := rest[:min(size, len(rest))]
			rest = rest[len(part):]
			if err := r.take([]byte(part), func(n int) { got = append(got, fmt.Sprint(n)) }); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("in parts of %d bytes: got requests %s, want %s", size, got, want)
		}
	}
}

func TestReaderRefusesUnknownLengths(t *testing.T) {
	for _, head := range []string{"POST / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"PUT / HTTP/1.1\r\nContent-Length: a\r\n\r\n"} {
		var r reader
		if err := r.take([]byte(head), func(int) {}); err == nil {
			t.Errorf("%q is no error", head)
		}
	}
}
