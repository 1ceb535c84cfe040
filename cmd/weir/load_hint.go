package main

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"
)

// foreignFlags are flags of curl, wrk, hey, oha, vegeta, k6, autocannon and ab,
// and what weir load has for them.
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

// explainForeign is for those who know other programs: it says what weir load
// has instead of a flag that it does not know, and what its -d is.
func explainForeign(p *problem) *problem {
	var parse *kong.ParseError
	if !errors.As(p.err, &parse) || parse.Context.Selected() == nil || parse.Context.Selected().FullPath() != "weir load" {
		return p
	}
	text := p.err.Error()
	if strings.HasPrefix(text, "--duration: ") {
		p.hint = "-d 30s is for how long to send; --body TEXT is what"
		return p
	}
	text, _, _ = strings.Cut(text, ",") // of its guesses, with one letter there are many
	flag, unknown := strings.CutPrefix(text, "unknown flag ")
	if instead := foreignFlags[flag]; unknown && instead != "" {
		p.err, p.hint = errors.New(text), "weir load has "+instead
	}
	return p
}
