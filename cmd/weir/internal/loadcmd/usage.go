package loadcmd

import (
	"errors"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// foreignFlags maps flags of curl, wrk, hey, oha, vegeta, k6, autocannon and ab to
// their equivalents.
var foreignFlags = map[string]string{
	"-t": "--threads N (wrk), or --timeout 30s (curl, hey)", "-z": "-d 30s", "-R": "--rate N", "-L": "all percentiles in its report",
	"-m": "-X WORD", "-D": "--body @FILE", "-T": "-H 'Content-Type: text/plain'", "-i": "--body @FILE",
	"-o": "--json=FILE", "-C": "-H 'Cookie: name=value'", "-A": "-H 'Authorization: ...'", "-u": "-H 'Authorization: ...', or http://user:password@host/",
	"-w": "-c N", "-s": "--requests-file FILE", "-a": "-n N", "-M": "--max-connections N",
	"--data": "--body TEXT", "--data-raw": "--body TEXT", "--data-binary": "--body @FILE", "--request": "-X WORD", "--user": "-H 'Authorization: ...'",
	"--latency": "all percentiles in its report", "--targets": "--requests-file FILE", "--workers": "-c N", "--max-workers": "--max-connections N",
	"--vus": "-c N", "--iterations": "-n N", "--amount": "-n N", "--pipelining": "-p N", "--overallRate": "--rate N", "--qps": "--rate N", "--rps": "--rate N",
	"--url": "an argument: weir load URL", "--output": "--json=FILE", "--keepalive": "connections that stay open, unless --no-keepalive is given",
}

// ExplainUsage names the option of weir load for the flag of another program,
// and explains -d. It returns nil for other mistakes.
func ExplainUsage(u cli.UsageError) error {
	switch {
	case u.Command != "weir load":
	case u.InvalidFlag == "--duration":
		return cli.Misuse(u, durationHint)
	case foreignFlags[u.UnknownFlag] != "":
		return cli.Misuse(errors.New("unknown flag "+u.UnknownFlag), "weir load has "+foreignFlags[u.UnknownFlag])
	}
	return nil
}

// durationHint is for users of curl, whose -d is the body.
const durationHint = "-d 30s is the duration; --body TEXT is the body"
