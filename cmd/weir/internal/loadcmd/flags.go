package loadcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load/settings"
)

// misuse returns an error about flags. If hint is "", it is that of the help.
func misuse(hint, format string, args ...any) error {
	return cli.Misuse(fmt.Errorf(format, args...), cmp.Or(hint, "weir load --help"))
}

// readSettings returns the settings of the flags on the command line.
func readSettings(flags []*kong.Flag) (settings.Settings, error) {
	given := make(map[string]any)
	for _, f := range flags {
		if f.Set {
			given[f.Name] = f.Target.Interface()
		}
	}
	s := settings.Settings{Stdin: os.Stdin}
	for _, f := range s.Fields() {
		if value, ok := given[flagOf(f.Name)]; ok {
			if err := s.Set(f.Name, value); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// flagOf returns the flag of a setting. Repeated flags have the singular name.
func flagOf(setting string) string {
	if setting == "headers" || setting == "stages" {
		return strings.TrimSuffix(setting, "s")
	}
	return strings.ReplaceAll(setting, "_", "-")
}

// aboutFlag turns an error about a setting into one about its flag.
func aboutFlag(err error) error {
	var wrong *settings.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return misuse("", "%w", err)
	case wrong.Setting == "url":
		return misuse("weir load http://127.0.0.1:8080/", "%w", wrong.Err)
	case wrong.Setting == "duration" && wrong.Hint == "":
		wrong.Hint = durationHint
	}
	return misuse(wrong.Hint, "--%s: %w", flagOf(wrong.Setting), wrong.Err)
}

// foreignFlags maps flags of curl, wrk, hey, oha, vegeta, k6, autocannon and ab to
// their equivalents.
var foreignFlags = map[string]string{
	"-t": "--threads N (wrk), or --timeout 30s (curl, hey)", "-z": "-d 30s", "-m": "-X WORD", "-a": "-n N",
	"-D": "--body @FILE", "-i": "--body @FILE", "-T": "-H 'Content-Type: text/plain'", "-o": "--json=FILE",
	"-C": "-H 'Cookie: name=value'", "-A": "-H 'Authorization: ...'", "-w": "-c N", "-s": "--requests-file FILE",
	"-u": "-H 'Authorization: ...', or http://user:password@host/", "-M": "--max-connections N", "-R": "--rate N",
	"-L": "all percentiles in its report", "--latency": "all percentiles in its report", "--workers": "-c N",
	"--data": "--body TEXT", "--data-raw": "--body TEXT", "--data-binary": "--body @FILE", "--request": "-X WORD",
	"--user": "-H 'Authorization: ...'", "--targets": "--requests-file FILE", "--max-workers": "--max-connections N",
	"--vus": "-c N", "--iterations": "-n N", "--amount": "-n N", "--pipelining": "-p N", "--output": "--json=FILE",
	"--overallRate": "--rate N", "--qps": "--rate N", "--rps": "--rate N", "--url": "an argument: weir load URL",
	"--unix-socket": "--unix PATH",
	"--keepalive":   "connections that stay open, unless --no-keepalive is given",
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
