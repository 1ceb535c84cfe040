package load_test

import (
	"fmt"
	"testing"

	"github.com/weirhq/weir/load"
)

// TestResponsesMayBeCutAnywhere splits the responses to pipelined requests at each byte in turn. A piece
// has the end of one response and the beginning of the next. The server sends the next piece
// after the client's next request, so that the client has read the previous one.
func TestResponsesMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	const hints = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
	answers := map[string]string{
		"a length": hints + good,
		"chunks":   hints + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n",
	}
	serverTLS, clientTLS := quickTLS(t)
	for name, answer := range answers {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", TLS ", secure), func(t *testing.T) {
				t.Parallel()
				config := serverTLS
				if !secure {
					config = nil
				}
				requests := len(answer) + 1 // the first and the last are not split
				s := newBadServer(t, config, func(v *visit) {
					rest := answer
					for at := 0; v.ask(); at++ {
						if at == 0 {
							continue // two are under way
						}
						next := at % len(answer)
						v.say(rest + answer[:next])
						rest = answer[next:]
						if at == requests-1 {
							v.say(rest) // after the last request
						}
					}
				})
				r := run(t, load.Plan{Targets: targets(s.url), TLS: clientTLS, Requests: int64(requests),
					Connections: 1, Pipeline: 2, Timeout: waitLimit, Process: -1})
				if got := r.Status["2xx"]; got != int64(requests) || r.ConnectionsMade != 1 || len(r.Errors) > 0 {
					t.Errorf("%d of %d responses were read, over %d connections: %v", got, requests, r.ConnectionsMade,
						r.ErrorExamples)
				}
			})
		}
	}
}
