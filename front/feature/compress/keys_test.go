package compress_test

import (
	"testing"

	"github.com/weirhq/weir/front/internal/configtest"
)

const smallest = "upstreams: {a: {servers: [http://127.0.0.1:8080]}}\nroutes: [{match: /, to: a}]\n"

func TestCompressMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"compress", smallest + "defaults: {compress: gzip}\n", []string{`3:22 "compress" must be a mapping|its keys are encodings`}},
		{"a compression", smallest + "defaults:\n  compress: {encodings: [gzip, brotli, gzip], level: 7, min_length: 10, types: [html, " +
			"'text/*', 'te*/x'], with_credentials: yes}\n",
			[]string{`4:32 "brotli"|zstd, br, gzip`, `4:40 gzip is given twice`, `4:54 "7" is not a level|1 (fastest) to 6`,
				`4:69 "10" is a number without a unit`, `4:81 "html"|text/html`, `4:97 "te*/x"`, `4:125 "yes"`}},
		{"a compression of a route", "upstreams: {a: {servers: http://a}}\nroutes:\n" +
			"- {match: /a, to: a, compress: {encodings: []}}\n- {match: /b, to: a, compress: [gzip]}\n" +
			"- {match: /c, to: a, compress: {gzip: true}}\n",
			[]string{`3:44 "encodings" is empty`, `4:32 "compress" must be a mapping`, `5:33 unknown key "gzip"`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
