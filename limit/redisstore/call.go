package redisstore

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/valkey-io/valkey-go"
)

// A call is one run of a script.
type call struct {
	script     *script
	keys, args []string
}

func newScript(text string) *script {
	hash := sha1.Sum([]byte(text)) // the name of the script, by EVALSHA
	return &script{text, hex.EncodeToString(hash[:])}
}

// run runs scripts in one round trip, and in a second one those that the server does not have:
// after its start, a failover, or SCRIPT FLUSH. A script that the server lacks has not run.
func (s *Store) run(ctx context.Context, calls []call) ([]valkey.ValkeyResult, error) {
	client, err := s.connected()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	commands := make(valkey.Commands, len(calls))
	for i, c := range calls {
		commands[i] = c.build(client, "EVALSHA", c.script.hash)
	}
	replies := client.DoMulti(ctx, commands...)
	var missing []int
	for i, r := range replies {
		switch e, ok := valkey.IsValkeyErr(r.Error()); {
		case !ok:
		case strings.HasPrefix(e.Error(), "NOSCRIPT"):
			missing = append(missing, i)
		case strings.HasPrefix(e.Error(), "READONLY"):
			s.disconnect(client) // after a failover, its name may lead to another server
		}
	}
	if len(missing) == 0 {
		return replies, nil
	}
	commands = commands[:0]
	for _, i := range missing {
		commands = append(commands, calls[i].build(client, "EVAL", calls[i].script.text))
	}
	for i, r := range client.DoMulti(ctx, commands...) {
		replies[missing[i]] = r
	}
	return replies, nil
}

// build returns the command of a call.
func (c *call) build(client valkey.Client, name, script string) valkey.Completed {
	return client.B().Arbitrary(name).Args(script, strconv.Itoa(len(c.keys))).Keys(c.keys...).Args(c.args...).Build()
}
