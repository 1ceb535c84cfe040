package teapot_test

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
	"github.com/weirhq/weir/log/sink"
)

func parse(keys string) (*config.Config, error) {
	return config.Parse("weir.yaml", []byte("listen: '127.0.0.1:0'\nadmin: off\nroutes:\n- match: /\n  respond: {status: 200}\n"+keys), nil)
}

func TestMistakesAreReported(t *testing.T) {
	_, err := parse("  teapot: {}\n")
	mistaketest.Want(t, err, []string{`6:3 "teapot" has no "method"|method: BREW`})
}

// TestTeapotRespondsAndIsExplained sends requests through a front door, and asks it for an explanation of one.
func TestTeapotRespondsAndIsExplained(t *testing.T) {
	cfg, err := parse("  teapot: {method: BREW}\n")
	if err != nil {
		t.Fatal(err)
	}
	events := sink.NewDirect(io.Discard)
	defer events.Close()
	door, err := front.New(cfg, events)
	if err != nil {
		t.Fatal(err)
	}
	if err := door.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- door.Serve(ctx) }()
	for method, want := range map[string]int{"BREW": 418, "GET": 200} {
		r, err := http.NewRequest(method, "http://"+door.Addrs()[0].String()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", method, resp.Status, want)
		}
	}
	e, err := door.Explain("http", []byte("BREW / HTTP/1.1\r\nHost: a\r\n\r\n"), netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Routes) != 1 || !slices.Equal(e.Routes[0].Steps, []string{"refuses to make coffee"}) {
		t.Errorf("the explanation is %+v", e)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
