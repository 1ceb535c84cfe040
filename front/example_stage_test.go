package front_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/log/sink"
)

// A keyed is a stage that admits requests with a key.
type keyed struct{ key string }

func (k keyed) Apply(x *stage.Exchange) (responded bool) {
	if stage.Only(x.Header, "x-api-key") == k.key {
		return false
	}
	x.Refuse(401, "the request has no key of the API")
	return true
}

func (k keyed) Explain(x *stage.Exchange) (steps []string, ends bool) {
	return []string{"admits requests with a key of the API"}, stage.Only(x.Header, "x-api-key") != k.key
}

// Example_stage adds a stage to a route. It runs after the stages that the file configures.
func Example_stage() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
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
	cfg.Routes[0].Stages = []stage.Stage{keyed{"s3cret"}}
	events := sink.NewDirect(io.Discard)
	defer events.Close()
	door, err := front.New(cfg, events)
	if err == nil {
		err = door.Listen()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error)
	go func() { served <- door.Serve(ctx) }()

	for _, key := range []string{"", "s3cret"} {
		req, _ := http.NewRequest("GET", "http://"+door.Addrs()[0].String(), nil)
		req.Header.Set("X-Api-Key", key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	stop()
	<-served
	// Output:
	// 401 Unauthorized
	// 200 OK
}
