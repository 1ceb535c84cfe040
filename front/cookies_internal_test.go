package front

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
)

// FuzzFindCookie compares findCookie with net/http, which finds fewer cookies: it drops those
// with an invalid name or value. Text without "=" is a cookie without a name, as browsers send
// it, but net/http takes it for a name.
func FuzzFindCookie(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a=b; c=d", ";; a=b;", "a", "a=", "=b", "a =b", "a=\"b c\"", "a=b\x00c=d;c=e",
		" a=b\t;\ta=c ", "a=b,c=d", "a=b=c; A=d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !httpsyntax.IsPlain(line) {
			return // no field has such a value
		}
		pairs := slices.DeleteFunc(strings.Split(line, ";"), func(pair string) bool { return !strings.Contains(pair, "=") })
		// Over HTTP/2, a client may send each pair in a field of its own.
		for _, fields := range [][]string{{strings.Join(pairs, ";")}, pairs} {
			var header []proxying.Field
			for _, field := range fields {
				header = append(header, proxying.Field{Name: "cookie", Value: field})
			}
			var got []string
			proxying.FindCookie(header, func(name, value string) bool {
				got = append(got, name+"="+value)
				return false
			})
			r := http.Request{Header: http.Header{"Cookie": fields}}
			for _, c := range r.Cookies() {
				value := c.Value
				if c.Quoted {
					value = `"` + value + `"`
				}
				if !slices.Contains(got, c.Name+"="+value) {
					t.Errorf("%q: %q, want %s=%s too", fields, got, c.Name, value)
				}
			}
		}
	})
}
