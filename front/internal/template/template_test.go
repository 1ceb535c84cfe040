package template

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/router"
)

// valuesOf returns the values of a GET request for an escaped path that a pattern matches.
func valuesOf(t testing.TB, pattern, host, path string) (*Values, bool) {
	t.Helper()
	table, err := router.NewTable(nil, []router.Entry[int]{{Pattern: pattern}})
	if err != nil {
		t.Fatal(err)
	}
	v := &Values{Params: new(router.Params), Path: path, Host: host, Query: "q=1&r=%20", Method: "GET", ID: "id-1",
		Client: netip.MustParseAddr("2001:db8::1")}
	e, _ := table.Lookup("GET", host, "", path, v.Params)
	return v, e != nil
}

func TestTemplateIsFilledInForItsPlace(t *testing.T) {
	for _, c := range []struct {
		pattern, path, template string
		place                   Place
		want                    string
		err                     error
	}{
		{"/a/{id}", "/a/b%2Fc%20d", "/new/{id}", Path, "/new/b%2Fc%20d", nil},
		{"/a/{id}", "/a/b%2fc", "{id}", Header, "b%2fc", nil},
		{"/%C3%A4/{id}/x", "/%c3%a4/%C3%BC/x", "/{id}", Path, "/%C3%BC", nil},
		{"/%61/{id}", "/a/%62", "/{id}", Path, "/%62", nil},
		{"/v{v}.txt/{id}", "/%76%31.txt/%32", "/{id}/{v}", Path, "/%32/%31", nil},
		{"/{a...}/x/{b...}/y/{c}", "/1%2F/2/%78/3/y/%25/x/4/y/5", "[{a}][{b}][{c}]", Header, "[1%2F/2][3/y/%25/x/4][5]", nil},
		{"/a/{rest...}", "/a/", "/new/{rest}", Path, "/new/", nil},
		{"/a/{rest...}", "/a/", "/new/{rest}/end", Path, "/new/end", ErrSlashes},
		{"/a/{rest...}", "/a//evil", "/{rest}", Path, "/evil", ErrSlashes},
		{"/a/{rest...}", "/a/%2Fevil", "/{rest}", Path, "/%2Fevil", ErrSlashes},
		{"/a/{rest...}", "/a/b//c", "/{rest}", Path, "/b//c", nil},
		{"/a/{id}", "/a/%2F", "/{id}/c", Path, "/%2F/c", ErrSlashes},
		{"/a/{rest...}", "/a/b/", "/{rest}/c", Path, "/b/c", ErrSlashes},
		{"/a/{id}", "/a/b&admin=1+2;c=%26", "x={id}", Query, "x=b%26admin%3D1%2B2%3Bc%3D%26", nil},
		{"/a/{id}", "/a/b", "{request.query}&id={id}", Query, "q=1&r=%20&id=b", nil},
		{"/a/{id}", "/a/\xc3\xbc\"<>`", "{id}", Header, "%C3%BC\"<>`", nil},
		{"/a/{id}", "/a/\xc3\xbc\"<>`", "{id}", Path, "%C3%BC%22%3C%3E%60", nil},
		{"/", "/a/b", "{request.method} {request.path}?{request.query} {request.host} {request.id}", Header,
			"GET /a/b?q=1&r=%20 a.example id-1", nil},
		{"/", "/", "{client.address}", Query, "2001:db8::1", nil},
		{"/", "/", "{{{request.id}}} {{id}}", Header, "{id-1} {id}", nil},
		{"/", "/", "ü x", Header, "ü x", nil},
		{"/", "/", "/ü x", Path, "/%C3%BC%20x", nil},
		{"/", "/", "", Header, "", nil},
	} {
		v, ok := valuesOf(t, c.pattern, "a.example", c.path)
		if !ok {
			t.Errorf("%s does not match %s", c.pattern, c.path)
			continue
		}
		tpl, refused := Parse(c.template, c.place, ParsePattern(c.pattern))
		if refused != nil {
			t.Errorf("%q: %s", c.template, refused.What)
			continue
		}
		if got, err := tpl.Append([]byte("before/"), v); string(got) != "before/"+c.want || err != c.err {
			t.Errorf("%q of %s with %s: %q, %v, want %q, %v", c.template, c.pattern, c.path, got[len("before/"):], err,
				c.want, c.err)
		}
	}
}

func TestHostOfIPv6GetsBrackets(t *testing.T) {
	for host, want := range map[string]string{"a.example": "a.example", "A.Example": "A.Example", "::1": "[::1]"} {
		v, _ := valuesOf(t, "/", host, "/")
		tpl, refused := Parse("{request.host}", Host, ParsePattern("/"))
		if refused != nil {
			t.Fatal(refused.What)
		}
		if got, err := tpl.Append(nil, v); string(got) != want || err != nil {
			t.Errorf("the host %s becomes %q, %v", host, got, err)
		}
	}
}

// TestLengthOfResultIsBounded checks that a template cannot multiply a long path without limit.
func TestLengthOfResultIsBounded(t *testing.T) {
	v, _ := valuesOf(t, "/{path...}", "a", "/"+strings.Repeat("x", 60<<10))
	tpl, refused := Parse(strings.Repeat("{path}", 100), Header, ParsePattern("/{path...}"))
	if refused != nil {
		t.Fatal(refused.What)
	}
	got, err := tpl.Append(nil, v)
	if !errors.Is(err, ErrTooLong) || len(got) > 4*Longest {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestMistakesInTemplatesGetHints(t *testing.T) {
	for _, c := range []struct {
		text  string
		place Place
		hint  string
		at    int
	}{
		{"a{", Header, "write {{ for the character itself", 1},
		{"a}", Header, "write }} for the character itself", 1},
		{"{id", Header, "write {{ for the character itself", 0},
		{"/x/{path...}", Path, "write {path}", 3},
		{"{id:int}", Header, "write {id}", 0},
		{"{pth}", Header, "did you mean {path}?", 0},
		{"{host}", Header, "write {request.host}", 0},
		{"{}", Header, "there are {id}, {path}, {client.address}, {request.host}, {request.id}, {request.method}, " +
			"{request.path}, {request.query}; write {{ for the character itself", 0},
		{"/{request.path}", Path, "use a parameter of the pattern", 1},
		{"/{request.query}", Path, "use a parameter of the pattern", 1},
		{"{id}.example", Host, "write a host, {request.host} or a parameter of the pattern's host", 0},
		{"{request.id}.example", Host, "use a parameter of the pattern", 0},
	} {
		_, refused := Parse(c.text, c.place, ParsePattern("GET a.example/{id:int}/{path...}"))
		switch {
		case refused == nil:
			t.Errorf("%q is accepted", c.text)
		case refused.Hint != c.hint || refused.Offset != c.at:
			t.Errorf("%q: %s at %d; %s, want at %d; %s", c.text, refused.What, refused.Offset, refused.Hint, c.at, c.hint)
		}
	}
}

func TestPatternBeginsWithPrefix(t *testing.T) {
	for _, c := range []struct {
		pattern, prefix string
		segments        int
		ok              bool
	}{
		{"/api/{path...}", "/api", 1, true},
		{"GET a.example/api/v1/{path...}", "/api/v1", 2, true},
		{"/api/v1/{path...}", "/api", 1, true},
		{"/api", "/api", 1, true},
		{"/api/", "/api", 1, true},
		{"/api/{$}", "/api", 1, true},
		{"/%61pi/x", "/ap%69", 1, true},
		{"/apis/{path...}", "/api", 1, false},
		{"/api{x}/y", "/api", 1, false},
		{"/{x}/api", "/api", 1, false},
		{"/{path...}", "/api", 1, false},
		{"/", "/api", 1, false},
		{"/a%2Fb/x", "/a/b", 2, false},
	} {
		if n, ok := ParsePattern(c.pattern).Begins(c.prefix); n != c.segments || ok != c.ok {
			t.Errorf("%s with %s: %d, %v, want %d, %v", c.pattern, c.prefix, n, ok, c.segments, c.ok)
		}
	}
}

// FuzzEscaped checks that the values of parameters are the client's own text: they are parts
// of the path, in order, and unescape to the values of the router.
func FuzzEscaped(f *testing.F) {
	for _, path := range []string{"/a/b/c", "/a/%2F/%2f/x/y", "/a/1/2/x%2fy/z", "/%61/%C3%A4/c//x/", "/a/%/%zz/x",
		"/a/\xff/\xff%ff/x"} {
		for pattern := range uint8(len(fuzzPatterns)) {
			f.Add(pattern, path)
		}
	}
	f.Fuzz(func(t *testing.T, pattern uint8, path string) {
		p := fuzzPatterns[int(pattern)%len(fuzzPatterns)]
		if _, err := url.PathUnescape(path); err != nil {
			return // the front door refuses it
		}
		v, ok := valuesOf(t, p, "a", path)
		if !ok {
			return
		}
		parsed, rest := ParsePattern(p), path
		if v.Params.Len() != len(parsed.names) {
			t.Fatalf("%s has %d parameters, and %q", p, v.Params.Len(), parsed.names)
		}
		for i, name := range parsed.names {
			wantName, want := v.Params.At(i)
			got := parsed.escaped(path, v.Params, i)
			plain, err := url.PathUnescape(got)
			_, after, found := strings.Cut(rest, got)
			if name != wantName || plain != want || err != nil || !found {
				t.Errorf("%s: {%s} of %q is %q, want %s = %q", p, name, path, got, wantName, want)
			}
			if rest = after; strings.IndexByte(want, '/') < 0 && strings.IndexByte(got, '/') >= 0 {
				t.Errorf("%s: {%s} of %q is %q, with a separator", p, name, path, got)
			}
		}
	})
}

var fuzzPatterns = []string{"/{a}/{b}/{c...}", "/a/{b}", "/{a...}/x/{b}", "/{a...}/x/{b...}", "/a/{b}.c/{d...}",
	"/{a}/x{b}", "GET a/%61/{b...}", "/{a...}/{b}/y/{$}"}

// FuzzAppend checks that no request can add a control byte to a text, end the part of a URL
// that it is in, or change a part before it. The oracle is net/url.
func FuzzAppend(f *testing.F) {
	for _, s := range []string{"x", "%0d%0aX:y", "%2F", "%00", "/evil.example", "..", "a&b=c", "a;b#c?d", "\r\n", "%252e",
		"é"} {
		f.Add(s, s)
	}
	path, refused := Parse("/new/{id}/{rest}", Path, ParsePattern("/{id}/{rest...}"))
	query, refused2 := Parse("a={id}&b={rest}&c={request.path}", Query, ParsePattern("/{id}/{rest...}"))
	header, refused3 := Parse("{id} {rest} {request.path} {request.query}", Header, ParsePattern("/{id}/{rest...}"))
	if refused != nil || refused2 != nil || refused3 != nil {
		f.Fatal(refused, refused2, refused3)
	}
	f.Fuzz(func(t *testing.T, id, rest string) {
		sent := "/" + id + "/" + rest
		u, err := url.ParseRequestURI("http://a" + sent)
		if err != nil || strings.ContainsAny(sent, "?#") {
			return
		}
		v, ok := valuesOf(t, "/{id}/{rest...}", "a", sent)
		if !ok {
			return
		}
		v.Query = strings.TrimLeft(rest, "/")
		target, err := path.Append(nil, v)
		q, _ := query.Append(nil, v)
		h, _ := header.Append(nil, v)
		for _, text := range []string{string(target), string(q), string(h)} {
			for i := range len(text) {
				if c := text[i]; c < ' ' || c >= 0x7f {
					t.Fatalf("%q holds %q", text, c)
				}
			}
		}
		got, perr := url.ParseRequestURI(string(target) + "?" + string(q))
		if perr != nil {
			t.Fatalf("%q?%q: %v", target, q, perr)
		}
		if got.Host != "" || !strings.HasPrefix(got.EscapedPath(), "/new/") || err == nil && got.Path != "/new"+u.Path {
			t.Errorf("%q becomes %q", sent, target)
		}
		values, qerr := url.ParseQuery(got.RawQuery)
		if qerr != nil || len(values) != 3 || len(values["a"]) != 1 || values.Get("a") != v.Params.Get("id") ||
			values.Get("b") != v.Params.Get("rest") || values.Get("c") != u.Path {
			t.Errorf("%q becomes the query %q: %q, %v", sent, q, values, qerr)
		}
	})
}
