package front_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log/sink"
)

// Example runs a front door for one service, from its configuration to its end.
func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s", r.URL.Path)
	}))
	defer site.Close()
	cfg, err := config.Parse("weir.yaml", []byte(`
listen: ["127.0.0.1:0"]
admin: off
upstreams:
  site: {servers: ["${SITE_URL}"]}
routes:
  - {match: "GET /{path...}", to: site}
`), func(string) (string, bool) { return site.URL, true })
	if err != nil {
		fmt.Println(err)
		return
	}
	events := sink.NewDirect(io.Discard) // os.Stdout, for one
	defer events.Close()
	door, err := front.New(cfg, events)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := door.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error)
	go func() { served <- door.Serve(ctx) }()

	resp, err := http.Get("http://" + door.Addrs()[0].String() + "/census")
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(resp.Status, string(body))

	stop()
	fmt.Println("drained:", <-served == nil, "events:", events.Stats().Written)
	// Output:
	// 200 OK hello from /census
	// drained: true events: 3
}
