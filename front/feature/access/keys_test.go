package access_test

import (
	"testing"

	"github.com/weirhq/weir/front/internal/configtest"
)

const smallest = "upstreams: {a: {servers: [http://127.0.0.1:8080]}}\nroutes: [{match: /, to: a}]\n"

func TestAccessMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"access", smallest + "defaults:\n  access: {allow: [10.0.0.0/8, 10.1.0.0/33], deny: [10.1.2.3, 10.0.0.0/8]}\n",
			[]string{`4:20 10.0.0.0/8 is never allowed, because 10.0.0.0/8 is in deny|precedence`, `4:32 "10.1.0.0/33"`}},
		{"access without networks", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, to: a, access: {}}\n" +
			"- {match: /b, to: a, access: {allow: []}}\n- {match: /c, to: a, access: [10.0.0.0/8]}\n",
			[]string{`3:30 "access" admits all clients`, `4:38 "allow" is empty`, `5:30 "access" must be a mapping`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
