package send

import (
	"context"
	"crypto/tls"

	"github.com/weirhq/weir/load/internal/line"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/users"
)

// SetUp executes the setup of flows over a connection of its own.
func (r *Run) SetUp(ctx context.Context, f *users.Flows, config *tls.Config, http1 bool) error {
	l := line.New(r.Server, config, http1)
	defer l.Close()
	return f.SetUp(ctx, func(u *users.User, m *program.Message) (status int, err error) {
		ctx, cancel := context.WithTimeout(ctx, r.Timeout)
		defer cancel()
		if _, err := l.Open(ctx); err != nil {
			return 0, err
		}
		o, err := l.Exchange(ctx, m, line.Watch{Sending: func() {}, Began: func() {}, Reader: u})
		return o.Status, err
	})
}
