package response_test

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/weirhq/weir/load/internal/response"
)

func addStreams(f *testing.F) {
	for _, c := range streams {
		f.Add([]byte(c.stream), c.noBody, uint64(1))
	}
	f.Add([]byte(plain+plain), false, uint64(2))
}

// FuzzSplits checks that a stream in pieces yields the same as in one piece.
func FuzzSplits(f *testing.F) {
	addStreams(f)
	f.Fuzz(func(t *testing.T, stream []byte, noBody bool, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		cuts := make([]int, random.IntN(20))
		for i := range cuts {
			cuts[i] = random.IntN(len(stream) + 1)
		}
		slices.Sort(cuts)
		want := read(new(response.Parser), string(stream), noBody)
		got := read(new(response.Parser), string(stream), noBody, cuts...)
		if !slices.Equal(got.answers, want.answers) || got.err != want.err || got.taken != want.taken {
			t.Errorf("cut at %v: %+v, whole: %+v", cuts, got, want)
		}
		memory := new(response.Memory)
		for range 2 {
			for _, cuts := range [][]int{nil, cuts} {
				got := read(&response.Parser{Memory: memory}, string(stream), noBody, cuts...)
				if !slices.Equal(got.answers, want.answers) || got.err != want.err || got.taken != want.taken {
					t.Errorf("with a memory, cut at %v: %+v, without: %+v", cuts, got, want)
				}
			}
		}
	})
}

// FuzzReadResponse compares the first response of a stream with net/http. If both accept it,
// they must agree on its status and its end.
func FuzzReadResponse(f *testing.F) {
	addStreams(f)
	f.Fuzz(func(t *testing.T, stream []byte, noBody bool, _ uint64) {
		if coded(stream) && bytes.Contains(stream, []byte("HTTP/1.0")) {
			return // net/http ignores the coding; an intermediary may not
		}
		want, ok := readResponse(stream, noBody)
		if !ok {
			return
		}
		var p response.Parser
		n, done, err := p.Feed(stream, noBody)
		if err == nil && !done {
			done, err = p.EOF()
		}
		if !done || err != nil {
			return
		}
		got := first{status: p.Status(), length: n, close: p.Close()}
		if coded(stream) {
			want.close = got.close // net/http keeps the connection after a response with two lengths
		}
		if got != want {
			t.Errorf("%q: got %+v, net/http has %+v", stream, got, want)
		}
	})
}

// coded reports whether the stream may have the one field that both read differently.
func coded(stream []byte) bool {
	return bytes.Contains(bytes.ToLower(stream), []byte("transfer-encoding"))
}

// first returns the first response of a stream.
type first struct {
	status, length int
	close          bool
}

func readResponse(stream []byte, noBody bool) (first, bool) {
	in := bytes.NewReader(stream)
	buffered := bufio.NewReader(in)
	request := &http.Request{Method: http.MethodGet}
	if noBody {
		request.Method = http.MethodHead
	}
	for {
		res, err := http.ReadResponse(buffered, request)
		if err != nil {
			return first{}, false
		}
		if res.StatusCode/100 == 1 && res.StatusCode != 101 {
			continue
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return first{}, false
		}
		return first{status: res.StatusCode, length: len(stream) - in.Len() - buffered.Buffered(),
			close: res.Close}, true
	}
}

// TestParserDiffersFromReadResponse lists streams that only one of the two accepts, or accepts as
// complete, to detect changes in either.
func TestParserDiffersFromReadResponse(t *testing.T) {
	for _, c := range []struct {
		why, stream   string
		here, netHTTP bool // accepts the response
	}{
		{"a status has three digits", "HTTP/1.1 +12 x\r\nContent-Length: 0\r\n\r\n", false, true},
		{"a status is 100 at least", "HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n", false, true},
		{"one space, and no more", "HTTP/1.1  200\r\nContent-Length: 0\r\n\r\n", false, true},
		{"HTTP/1, as asked", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", false, true},
		{"nobody asked for a change", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, true},
		{"a length that not all would see", usual + "Content-Length : 0\r\n\r\n", false, true},
		{"a length that not all would see", usual + "Content-Length:\r\n 0\r\n\r\n", false, true},
		{"a length above 2^62", "HTTP/1.1 304 x\r\nContent-Length: 9223372036854775807\r\n\r\n", false, true},

		{"space around a chunk's size, before an extension", usual + "Transfer-Encoding: chunked\r\n\r\n0 ;x\r\n\r\n",
			true, false},
	} {
		o := read(new(response.Parser), c.stream, false)
		here := o.err == "" && o.taken == len(c.stream)
		_, netHTTP := readResponse([]byte(c.stream), false)
		if here != c.here || netHTTP != c.netHTTP {
			t.Errorf("%s: %q is a response here: %v, want %v; for net/http: %v, want %v", c.why, c.stream, here, c.here,
				netHTTP, c.netHTTP)
		}
	}
}
