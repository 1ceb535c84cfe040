package respond_test

import (
	"testing"

	"github.com/weirhq/weir/front/internal/configtest"
)

func TestRespondMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"a status", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, respond: {status: 100}}\n" +
			"- {match: /b, respond: {text: x}}\n- {match: /c, respond: {status: 204, text: x}}\n",
			[]string{`3:33 "100"|200 to 599`, `4:15 no "status"`, `5:15 status 204 has no body|remove the text`}},
		{"a type", "upstreams: {a: {servers: http://a}}\nroutes: [{match: /, respond: {status: 200, type: \"a\\nb\"}}]\n",
			[]string{`2:50 this is not the value of a header field`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
