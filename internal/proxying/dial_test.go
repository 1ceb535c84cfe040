package proxying_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// TestCancelEndsDialling checks that dialling ends when the client
// disconnects, and that the server is not blamed.
func TestCancelEndsDialling(t *testing.T) {
	t.Parallel()
	dialling := make(chan struct{})
	d := openDoor(t, func(p *proxying.Proxy) {
		told := p.Hook
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			if e == proxying.Sending {
				close(dialling)
			}
			told(x, e)
		}
	}, "http://"+testkit.SilentAddress(t))
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", d.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-dialling
		leave()
	}()
	if _, err := d.client(1).Do(r); err == nil {
		t.Error("there was a response")
	}
	select {
	case o := <-d.outcomes:
		if o.kind != proxying.ClientGone || o.status != 499 {
			t.Errorf("kind %s, status %d: %v", o.kind, o.status, o.err)
		}
	case <-time.After(4 * time.Second): // dialling ends by itself after five seconds
		t.Error("the upstream is still dialled")
	}
}
