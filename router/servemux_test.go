package router_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// TestRouterRespondsAsServeMux registers random patterns in the syntax of net/http with
// http.ServeMux and with Router and compares the responses.
func TestRouterRespondsAsServeMux(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 3000 {
		compared += compareWithServeMux(t, random.IntN)
	}
	if compared < 50_000 {
		t.Errorf("only %d requests were compared", compared)
	}
}

// FuzzRouterAgainstServeMux does the same with a fuzzer's choices.
func FuzzRouterAgainstServeMux(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		seed := make([]byte, 200)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		compareWithServeMux(t, func(n int) int {
			if len(bytes) == 0 {
				return 0
			}
			b := int(bytes[0])
			bytes = bytes[1:]
			return b % n
		})
	})
}

// A choice returns a number below n.
type choice func(n int) int

func (c choice) of(words ...string) string { return words[c(len(words))] }

// compareWithServeMux compares the responses to a few requests and returns their
// number. docs/router.md lists the permitted differences; here they are the patterns
// that router rejects, muxRequest, incomparable and expected.
func compareWithServeMux(t *testing.T, c choice) (compared int) {
	t.Helper()
	mux, r := http.NewServeMux(), new(router.Router)
	var patterns []string
	for range 1 + c(6) {
		p := c.muxPattern()
		h := echo(p)
		if neverMatches(p) {
			if panicOf(func() { r.Handle(p, h) }) == "" {
				t.Fatalf("%q is accepted", p)
			}
			continue
		}
		if panicOf(func() { mux.Handle(p, h) }) != "" {
			continue // a conflict in ServeMux, but not necessarily in Router
		}
		if text := panicOf(func() { r.Handle(p, h) }); text != "" {
			t.Fatalf("%q after %q: only ServeMux accepts it: %s", p, patterns, text)
		}
		patterns = append(patterns, p)
	}
	for range 20 {
		request := c.muxRequest()
		if incomparable(request) {
			continue
		}
		compared++
		if got, want := result(r, request), expected(mux, request); got != want {
			t.Fatalf("%s with %q\ngot  %s\nwant %s", request, patterns, got, want)
		}
	}
	return compared
}

func (c choice) muxPattern() string {
	var b strings.Builder
	b.WriteString(c.of("", "", "", "GET ", "GET ", "POST ", "HEAD ", "CONNECT ", "OPTIONS ", "get ", "PUT\t ") +
		c.of("", "", "", "", "", "h.com", "other.com", "h.com:80"))
	for i := range c(4) {
		b.WriteString("/" + c.of("a", "b", "c", "a%2Fb", "%61", "é", fmt.Sprintf("{%c}", 'a'+i),
			fmt.Sprintf("{%c}", 'a'+i)))
		b.WriteString(c.of("", "", "", "", "", "", "", "", "", "", "/.", "/..", "/"))
	}
	return b.String() + c.of("/a", "/b", "/{d}", "/", "/{$}", "/{d...}")
}

// neverMatches reports whether Router rejects a pattern because no request can reach
// it, although ServeMux accepts it.
func neverMatches(pattern string) bool {
	method, _, _ := strings.Cut(pattern, "/")
	return strings.HasPrefix(method, "get ") || strings.HasSuffix(method, ":80") ||
		strings.Contains(pattern, "//") || strings.Contains(pattern, "/./") || strings.Contains(pattern, "/../")
}

func (c choice) muxRequest() string {
	var b strings.Builder
	b.WriteString(c.of("GET", "GET", "GET", "HEAD", "POST", "PUT", "OPTIONS", "CONNECT") + " " + c.of("", "", "h.com",
		"h.com:80", "H.com", "h.com.", "other.com"))
	for range 1 + c(5) {
		b.WriteString("/" + c.of("a", "b", "c", "x", "%61", "a%2Fb", "é", "%C3%A9", "%25", "%252e", "%2e", "%2E%2e",
			".%2e", "a", "b", "", "..", ".", "..%2f", ".a", "...", "%2F", "%5c", ";"))
	}
	return b.String() + c.of("", "", "", "/", "?q=1", "?q=%2F//..")
}

// incomparable reports whether a request shows one of these differences: for Router, a
// segment that consists of slashes is one segment, and an empty segment in the middle,
// which CONNECT keeps, is not a value.
func incomparable(request string) bool {
	target, _, _ := strings.Cut(request, "?")
	return strings.Contains(target+"/", "/%2F/") || strings.HasPrefix(request, "CONNECT") &&
		strings.Contains(target, "//")
}

// expected returns Router's documented response where ServeMux responds differently.
func expected(mux http.Handler, request string) string {
	method, target, _ := strings.Cut(request, " ")
	slash := strings.IndexByte(target, '/')
	// Hosts are matched in any case, without a final dot or a port.
	host, _, _ := strings.Cut(strings.ToLower(strings.TrimSuffix(target[:slash], ".")), ":")
	sent, query, hasQuery := strings.Cut(target[slash:], "?")
	if hasQuery {
		query = "?" + query
	}
	// Characters that need escapes count as escaped. ServeMux loses the other escapes
	// then, so that %2F separates segments.
	sent = strings.ReplaceAll(sent, "é", "%C3%A9")
	clean := sent
	if method != http.MethodConnect {
		clean = oracleClean(sent)
	}
	req := newRequest(method + " " + host + clean + query)
	req.URL.Host = host // ServeMux sometimes uses this host for CONNECT
	want := answerTo(mux, req)
	if strings.HasPrefix(want, "307 ") {
		// To the path with a final slash, with the client's escapes.
		return "307 Location: " + oracleClean(clean+"/") + query
	}
	if clean != sent {
		return "307 Location: " + clean + query
	}
	allow, refused := strings.CutPrefix(want, "405 Allow: ")
	if !refused {
		return want
	}
	// The Router itself responds to OPTIONS, and Allow includes it.
	methods := strings.Split(allow, ", ")
	if !slices.Contains(methods, http.MethodOptions) {
		methods = append(methods, http.MethodOptions)
	}
	slices.Sort(methods)
	status := "405"
	if method == http.MethodOptions {
		status = "204"
	}
	return status + " Allow: " + strings.Join(methods, ", ")
}

// oracleClean cleans a path as ServeMux does, with %2e as a dot in segments that
// consist of dots.
func oracleClean(escaped string) string {
	segments := strings.Split(escaped, "/")
	for i, s := range segments {
		if plain := strings.NewReplacer("%2e", ".", "%2E", ".").Replace(s); plain == "." || plain == ".." {
			segments[i] = plain
		}
	}
	p := strings.Join(segments, "/")
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}
