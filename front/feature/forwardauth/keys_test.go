package forwardauth_test

import (
	"testing"

	"github.com/weirhq/weir/front/internal/configtest"
)

func TestForwardAuthMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"forward_auth", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, to: a, forward_auth: {to: b}}\n" +
			"- {match: /b, to: a, forward_auth: {to: a, path: verify, timeout: 0s, copy: [Host, x_forwarded_for, 'a b']}}\n" +
			"- {match: /c, to: a, forward_auth: {to: a, path: /a/../b, send: [], copy: []}}\n",
			[]string{`3:22 no "path"`, `3:41 there is no upstream "b"`, `4:50 "verify" is not a path`, `4:67 no time`,
				`4:78 weir itself writes "Host"`, `4:84 weir itself writes "x_forwarded_for"`,
				`4:101 "a b" is not the name of a header field`, `5:50 "/a/../b"`, `5:65 "send" is empty`,
				`5:75 "copy" is empty`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
