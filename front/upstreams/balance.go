package upstreams

import (
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Values of [Upstream.Balance].
const (
	BalanceRoundRobin       = "round_robin"
	BalanceLeastConnections = "least_connections"
	BalanceTwoChoices       = "two_choices"
	BalanceHash             = "hash"
)

var balances = []string{BalanceRoundRobin, BalanceLeastConnections, BalanceTwoChoices, BalanceHash}

// Values of [Upstream.HashBy].
const (
	HashByClient = "client"  // the client's address, or its IPv6 /64; trusted proxies name the client
	HashByPath   = "path"    // the path that the server gets, without the query
	HashByHeader = "header " // the value of the header field that follows
	HashByCookie = "cookie " // the value of the cookie that follows
)

// balanceKeys returns the keys of an upstream for the choice of a server.
func balanceKeys[T any](path string, at func(T) *Upstream) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path + ".balance", Doc: "the policy by which a request chooses a server",
			Read: yamlfile.One(yamlfile.Word(balances), func(t T) *string { return &at(t).Balance })},
		{Path: path + ".hash", Read: (*yamlfile.Reader[T]).Fields},
		{Path: path + ".hash.by", Doc: "the part of the request that determines its server",
			Required: "name the part of the request, as in: hash: {by: cookie session}",
			Read:     yamlfile.One(parseHashBy, func(t T) *string { return &at(t).HashBy })},
		{Path: path + ".connections", Ambiguous: true, Short: "max", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			readLimit(r, p, n, &at(p.To).Connections)
		}},
		{Path: path + ".connections.max", Doc: "the number of requests that a server may have at one time", Ambiguous: true,
			Required: "set the number for each server, as in: connections: {max: 100, queue: 50}",
			Read:     yamlfile.One(scalar.Some, func(t T) *int { return &at(t).Connections.Max })},
		{Path: path + ".connections.queue", Doc: "the number of requests that wait for a server", Ambiguous: true,
			Read: yamlfile.One(yamlfile.Count, func(t T) *int { return &at(t).Connections.Queue })},
		{Path: path + ".connections.wait", Doc: "the maximum waiting time of a request for a server", Ambiguous: true,
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).Connections.Wait })},
		{Path: path + ".slow_start", Doc: "how long the share of a returning server grows", Ambiguous: true,
			Read: yamlfile.One(yamlfile.Duration, func(t T) *time.Duration { return &at(t).SlowStart })},
	}
}

// readLimit reads the limit of each server of an upstream.
func readLimit[T any](r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node, l *Limit) {
	*l = Limit{Wait: time.Second}
	r.Fields(p, n)
	for _, pair := range n.Pairs {
		if pair.Key.Text == "wait" && l.Queue == 0 {
			r.Mistakef(pair.Key.Pos, "add queue, or remove it", "requests wait only if there is a queue")
		}
	}
}

// checkBalance checks the keys of an upstream that depend on each other.
func (u *Upstream) checkBalance(f *yamlfile.File, n *yamlfile.Node) {
	for _, p := range n.Pairs {
		if p.Key.Text == "hash" && u.Balance != BalanceHash {
			f.Mistakef(p.Key.Pos, "add balance: hash, or remove it", "only the policy hash has a part of the request")
		}
	}
}

// parseHashBy reads the part of a request that determines its server.
func parseHashBy(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	if s.Text == HashByClient || s.Text == HashByPath {
		return s.Text, nil
	}
	for _, kind := range []string{HashByHeader, HashByCookie} {
		name, ok := strings.CutPrefix(s.Text, kind)
		switch {
		case ok && httpsyntax.IsToken(name):
			return s.Text, nil
		case ok:
			return "", yamlfile.Refuse("write a name, as in header X-User or cookie session",
				"%s is not the name of a %s",
				yamlfile.Quote(name), strings.TrimSpace(kind))
		}
	}
	return "", yamlfile.Refuse("it is client, path, header NAME or cookie NAME", "%s is not known here",
		yamlfile.Quote(s.Text))
}
