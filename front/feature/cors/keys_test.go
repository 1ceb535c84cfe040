package cors_test

import (
	"testing"

	"github.com/weirhq/weir/front/internal/configtest"
)

func TestCORSMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"cors", "upstreams: {a: {servers: http://a}}\nroutes:\n" +
			"- {match: /a, to: a, cors: {origins: ['*', 'null'], credentials: true, max_age: 5}}\n" +
			"- {match: /b, to: a, cors: {origins: ['*', 'http://a'], allow_headers: [a, '*'], allow_methods: [get, '*'], " +
			"expose_headers: ['*']}}\n" +
			"- {match: /c, to: a, cors: {allow_methods: [], allow_headers: 'a b'}}\n- {match: /d, to: a, cors: {origins:\n" +
			"    [a.example, 'https://', 'https://*', 'https://a.*.example', 'HTTPS://A.example', 'https://a/', 'https://a:443',\n" +
			"     'https://a/b', 'https://u@a', 'https://*.a:443', 'https://a b', 'https://a:']}}\n",
			[]string{`3:39 credentials, "*" would give`, `3:44 "null"`, `3:81 "5"`, `4:39 "*" includes the other origins`,
				`4:76 "*" includes the other headers`, `4:98 "get"|did you mean "GET"?`, `4:103 "*" is not a method`,
				`4:126 "*"`, `5:22 no "origins"`, `5:44 "allow_methods" is empty`, `5:63 "a b" is not the name`,
				`7:6 "a.example" is not an origin`, `7:17 "https://"`, `7:29 "https://*"`, `7:42 "https://a.*.example"`,
				`7:65 another form|did you mean "https://a.example"?`, `7:86 did you mean "https://a"?`,
				`7:100 did you mean "https://a"?`, `8:6 "https://a/b"`, `8:21 "https://u@a"`,
				`8:36 did you mean "https://*.a"?`, `8:55 "https://a b"`, `8:70 "https://a:"`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
