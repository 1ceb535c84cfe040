package front

import (
	"context"
	"strings"

	"github.com/weirhq/weir/front/internal/acme"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/proxying"
)

// challengeFields are those of the response to a challenge.
var challengeFields = []proxying.Field{{Name: "Content-Type", Value: "application/octet-stream"},
	{Name: "Cache-Control", Value: "no-store"}}

// challengeResponse returns the body of the response if a request without TLS is one by which
// an ACME server verifies the control of a host, or else "". Such a request is subject to no
// route, limit and rule for client certificates.
func challengeResponse(m *acme.Manager, x *stage.Exchange) string {
	if x.Scheme != "http" || x.Method != "GET" || !strings.HasPrefix(x.Path, acme.ChallengePrefix) {
		return ""
	}
	var body string
	host, path := strings.ToLower(x.Hostname), strings.Clone(x.Path)
	x.Block(func() { body, _ = m.ChallengeResponse(context.Background(), host, path) })
	return body
}
