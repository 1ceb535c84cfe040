package serve

import (
	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/log/natssink"
	"github.com/weirhq/weir/log/otlpsink"
	"github.com/weirhq/weir/log/stream"
)

// logServers has the client for each scheme of the URLs in log.to. The schemes and the
// parameters of their URLs are also in front/internal/serverurl, which checks them.
var logServers = map[string]func(url string) (stream.Destination, error){
	"nats":       openNATS,
	"tls":        openNATS,
	"otlp+http":  openOTLP,
	"otlp+https": openOTLP,
}

// openNATS returns the client for a subject of NATS.
func openNATS(url string) (stream.Destination, error) {
	to, err := natssink.New(url, nats.Name("weir"))
	if err != nil {
		return nil, cli.WithHint(err, "docs/nats.md describes the URL and its files")
	}
	return to, nil
}

// openOTLP returns the client for a server of OTLP.
func openOTLP(url string) (stream.Destination, error) { return hintOTLP(otlpsink.New(url)) }

// openTraces returns the client for the server of traces.to.
func openTraces(url string) (stream.Destination, error) { return hintOTLP(otlpsink.NewSpans(url)) }

func hintOTLP(to *otlpsink.Destination, err error) (stream.Destination, error) {
	if err != nil {
		return nil, cli.WithHint(err, "docs/otlp.md describes the URL and its files")
	}
	return to, nil
}
