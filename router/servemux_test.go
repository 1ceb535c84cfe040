package router_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestRouterAnswersAsServeMux registers random sets of patterns of net/http's
// language with http.ServeMux and with Router and compares what they answer.
// What differs on purpose stands in docs/router.md, and in sameAnswer.
func TestRouterAnswersAsServeMux(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 3000 {
		mux, r := http.NewServeMux(), router.New()
		var patterns []string
		for range 1 + random.IntN(6) {
			p := muxPattern(random)
			h := echo(p)
			if panicOf(func() { mux.Handle(p, h) }) != "" {
				continue // a conflict there, and perhaps an order here
			}
			if text := panicOf(func() { r.Handle(p, h) }); text != "" {
				t.Fatalf("%q after %q: only ServeMux accepts it: %s", p, patterns, text)
			}
			patterns = append(patterns, p)
		}
		for range 20 {
			request := muxRequest(random)
			compared++
			if want, got := answer(mux, request), answer(r, request); !sameAnswer(request, got, want) {
				t.Fatalf("%s with %q\ngot  %s\nwant %s", request, patterns, got, want)
			}
		}
	}
	if compared < 50_000 {
		t.Errorf("only %d requests were compared", compared)
	}
}

func muxPattern(random *rand.Rand) string {
	of := func(words ...string) string { return words[random.IntN(len(words))] }
	var b strings.Builder
	b.WriteString(of("", "", "GET ", "POST ", "HEAD ") + of("", "", "", "h.com"))
	for i := range random.IntN(4) {
		b.WriteString("/" + of("a", "b", "c", "a%2Fb", fmt.Sprintf("{%c}", 'a'+i)))
	}
	return b.String() + of("/a", "/b", "/{d}", "/", "/{$}", "/{d...}")
}

func muxRequest(random *rand.Rand) string {
	of := func(words ...string) string { return words[random.IntN(len(words))] }
	var b strings.Builder
	b.WriteString(of("GET", "GET", "HEAD", "POST", "PUT") + " " + of("", "h.com", "h.com:80", "other.com"))
	for range 1 + random.IntN(5) {
		b.WriteString("/" + of("a", "b", "c", "x", "%61", "a%2Fb", "%2e", "a", "b", "", "..", "."))
	}
	return b.String() + of("", "", "/", "?q=1")
}

// sameAnswer reports whether got is what Weir promises where net/http answers
// want.
func sameAnswer(request, got, want string) bool {
	if allow, ok := strings.CutPrefix(want, "405 Allow: "); ok {
		// Router answers OPTIONS itself, and says so.
		methods := append(strings.Split(allow, ", "), "OPTIONS")
		slices.Sort(methods)
		want = "405 Allow: " + strings.Join(methods, ", ")
	}
	if strings.HasPrefix(want, "307 ") && strings.Contains(request, "%") {
		// ServeMux escapes the path of some redirects a second time and
		// loses the escapes of others; Router keeps the client's.
		return strings.HasPrefix(got, "307 ")
	}
	return got == want
}
