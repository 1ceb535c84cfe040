package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/internal/livepage"
)

// DecodeOptional decodes a flag with an optional value, as in --json and --json=FILE. The type of the flag has IsBool,
// so that kong accepts it without a value.
func DecodeOptional(ctx *kong.DecodeContext, without string, flag *string) error {
	*flag = without
	if token := ctx.Scan.Peek(); token.Type == kong.FlagValueToken {
		return ctx.Scan.PopValueInto("value", flag)
	}
	return nil
}

// A WebAddress is --web, the address at which a run is shown on a page; "" without the flag.
type WebAddress string

// Decode implements kong.MapperValue.
func (a *WebAddress) Decode(ctx *kong.DecodeContext) error {
	return DecodeOptional(ctx, "127.0.0.1:0", (*string)(a))
}

// IsBool lets kong accept the flag without a value.
func (*WebAddress) IsBool() bool { return true }

// Serve serves the page of a run, and prints its URL. Without the flag, the server is nil.
func (a WebAddress) Serve(s Streams, own fs.FS, story *livepage.Story) (*livepage.Server, error) {
	if a == "" {
		return nil, nil
	}
	addr := string(a)
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = net.JoinHostPort("127.0.0.1", addr)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, Misuse(fmt.Errorf("--web: %w", err), "--web, --web=5665 or --web=127.0.0.1:5665")
	}
	server, err := livepage.Serve(addr, own, story)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, WithHint(fmt.Errorf("--web: %w", err), "--web without an address chooses a free port")
	case err != nil:
		return nil, fmt.Errorf("--web: %w", err)
	}
	Say(s.Err, "the run is shown at http://"+server.Addr.String()+"/"+visitors(server.Addr))
	return server, nil
}

// visitors describes the visitors that can see a page at an address.
func visitors(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err == nil && at.Addr().IsLoopback() {
		return ""
	}
	return ", for everyone who can reach this address"
}
