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
	queue := scalar.QueueKeys(path+".connections.queue", func(t T) *int { return &at(t).Connections.Queue },
		func(t T) *time.Duration { return &at(t).Connections.Wait })
	return append([]yamlfile.Key[T]{
		{Path: path + ".balance", Doc: "the policy by which a request chooses a server", Zero: BalanceRoundRobin,
			Read: yamlfile.One(parseBalance, func(t T) *string { return &at(t).Balance })},
		{Path: path + ".hash", Read: (*yamlfile.Reader[T]).Fields},
		{Path: path + ".hash.by", Doc: "the part of the request that determines its server",
			Required: "name the part of the request, as in: hash: {by: cookie session}",
			Read:     yamlfile.One(parseHashBy, func(t T) *string { return &at(t).HashBy })},
		{Path: path + ".connections", Ambiguous: true, Short: "max", Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
			at(p.To).Connections = Limit{Wait: time.Second}
			r.Fields(p, n)
		}},
		{Path: path + ".connections.max", Doc: "the number of requests that a server may have at one time", Ambiguous: true,
			Required: "set the number for each server, as in: connections: {max: 100, queue: {length: 50, wait: 2s}}",
			Read:     yamlfile.One(scalar.Some, func(t T) *int { return &at(t).Connections.Max })},
		{Path: path + ".slow_start", Doc: "how long the share of a returning server grows", Ambiguous: true,
			Off:  func(t T) { at(t).SlowStart = 0 },
			Read: yamlfile.One(scalar.Timeout, func(t T) *time.Duration { return &at(t).SlowStart })},
	}, queue...)
}

// foreignBalances are the hints for policies under the names of other front doors.
var foreignBalances = map[string]string{
	"least_conn": "write least_connections", "leastconn": "write least_connections", "ewma": "write two_choices",
	"random": "write two_choices", "random_choose": "write two_choices", "p2c": "write two_choices",
	"static-rr": "write round_robin", "wrr": "write round_robin",
	"weighted_round_robin": "write round_robin",
	"ip_hash":              "write balance: hash and hash: {by: client}", "source": "write balance: hash and hash: {by: client}",
	"client_ip_hash": "write balance: hash and hash: {by: client}",
	"uri":            "write balance: hash and hash: {by: path}", "uri_hash": "write balance: hash and hash: {by: path}",
	"cookie": "write sticky, as in sticky: {cookie: server, secret_file: sticky.key}",
	"first":  "mark the other servers, as in servers: [{url: http://a}, {url: http://b, backup: true}]",
}

// parseBalance reads the name of a policy.
func parseBalance(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	policy, refused := yamlfile.Word(balances)(s)
	if hint := foreignBalances[s.Text]; refused != nil && hint != "" {
		refused.Hint = hint
	}
	return policy, refused
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
	s.Describe(yamlfile.Form{Name: "header NAME or cookie NAME", Words: []string{HashByClient, HashByPath},
		Pattern: "(" + HashByHeader + "|" + HashByCookie + ")" + httpsyntax.TokenPattern})
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
