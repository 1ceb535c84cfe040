package loadcmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

const certificateHint = "does the server want a client certificate, of an authority that it trusts? --cert FILE --key FILE"

// silentHint returns a hint for a run without a response.
func silentHint(r *load.Result) string {
	switch {
	case r.CertificateRefused:
		return certificateHint
	case r.Protocol == load.HTTP2.String():
		return "does the server support HTTP/2? Without --http2, weir uses HTTP/1.1"
	}
	return "curl -v " + r.URL
}

func unreachableHint(e *load.UnreachableError) string {
	switch {
	case e.CertificateRefused:
		return certificateHint
	case errors.As(e, new(*tls.CertificateVerificationError)):
		return "--cacert FILE sets another certificate for verification; --insecure turns verification off"
	case strings.HasPrefix(e.Server, "unix:"):
		return "is a server listening on this socket? ls -l shows whether it exists, and who may use it"
	case e.Kind == "tls":
		return "does the server use TLS? Use http:// if not"
	}
	return "is a server listening there? For a test server: weir backend --listen " + e.Server
}

// roomHint returns how to make room for the connections.
func roomHint(e *load.RoomError) string {
	hint := fmt.Sprintf("as root, raise the limit to %d or more: ulimit -n, LimitNOFILE of systemd, --ulimit nofile of docker", e.Need)
	if e.Of == "local ports" {
		hint = `more ports: sysctl net.ipv4.ip_local_port_range="1024 65535"`
	}
	if e.Fit > 0 {
		return fmt.Sprintf("use %d connections or fewer; or %s", e.Fit, hint)
	}
	return hint
}

// withHint adds a hint to the error of a run that did not start.
func withHint(err error) error {
	var room *load.RoomError
	var unreachable *load.UnreachableError
	var network *net.DNSError
	switch {
	case errors.Is(err, cli.ErrInterrupted), errors.As(err, new(*cli.Error)):
		return err
	case errors.Is(err, context.Canceled): // before the start
		return cli.ErrInterrupted
	case errors.As(err, &room):
		return cli.WithHint(err, roomHint(room))
	case errors.As(err, &unreachable):
		return cli.WithHint(err, unreachableHint(unreachable))
	case errors.As(err, &network):
		return cli.WithHint(err, "check the host's name")
	case errors.As(err, new(*load.SetupError)):
		return cli.WithHint(err, "the load begins when each step of the setup has had the response that it expects, or a status below 400")
	case errors.As(err, new(*load.StartError)):
		return cli.WithHint(err, "start earlier, or give a later --start-at to all shares")
	case errors.As(err, new(*target.OriginsError)):
		return cli.Misuse(err, "weir load --requests-file FILE --to http://127.0.0.1:8080")
	}
	return cli.Misuse(err, "weir load --help")
}
