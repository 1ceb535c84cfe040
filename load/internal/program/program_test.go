package program

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// heads compiles the targets and returns the first n messages of one thread.
func heads(t *testing.T, n int, targets ...target.Target) []string {
	t.Helper()
	p, err := Compile(targets, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Script(1)
	var out []string
	for range n {
		out = append(out, string(s.Next().Head))
	}
	return out
}

func TestMessageIsMadeFromTarget(t *testing.T) {
	const rest = "User-Agent: weir-load\r\nAccept: */*\r\n"
	large := bytes.NewReader(make([]byte, maxJoined+1))
	for _, c := range []struct {
		name   string
		target target.Target
		want   string
	}{
		{"plain", target.Target{URL: "http://a.example/x?y=%20"}, "GET /x?y=%20 HTTP/1.1\r\nHost: a.example\r\n" +
			rest + "\r\n"},
		{"no path", target.Target{URL: "HTTP://a.example"}, "GET / HTTP/1.1\r\nHost: a.example\r\n" + rest + "\r\n"},
		{"query alone", target.Target{URL: "http://a?b"}, "GET /?b HTTP/1.1\r\nHost: a\r\n" + rest + "\r\n"},
		{"fragment", target.Target{URL: "http://a/b?c#d{{seq}}"}, "GET /b?c HTTP/1.1\r\nHost: a\r\n" + rest + "\r\n"},
		{"fragment alone", target.Target{URL: "http://a#b"}, "GET / HTTP/1.1\r\nHost: a\r\n" + rest + "\r\n"},
		{"beyond ASCII, as browsers write it", target.Target{URL: "http://Bücher.example/grüße/{{\"ä\"}}?q=日本#ü"},
			"GET /gr%C3%BC%C3%9Fe/%C3%A4?q=%E6%97%A5%E6%9C%AC HTTP/1.1\r\nHost: xn--bcher-kva.example\r\n" +
				rest + "\r\n"},
		{"as it is written", target.Target{URL: "http://a//x/../%2f/./%zz\\é?a=b?c"},
			"GET //x/../%2f/./%zz\\%C3%A9?a=b?c HTTP/1.1\r\nHost: a\r\n" + rest + "\r\n"},
		{"default port", target.Target{URL: "http://a:80/"}, "GET / HTTP/1.1\r\nHost: a\r\n" + rest + "\r\n"},
		{"default port of https", target.Target{URL: "https://a:443/"}, "GET / HTTP/1.1\r\nHost: a\r\n" +
			rest + "\r\n"},
		{"other port", target.Target{URL: "https://a:80/"}, "GET / HTTP/1.1\r\nHost: a:80\r\n" + rest + "\r\n"},
		{"IPv6", target.Target{URL: "http://[::1]:8080/"}, "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n" + rest + "\r\n"},
		{"zone", target.Target{URL: "http://[fe80::1%25eth0]/"}, "GET / HTTP/1.1\r\nHost: [fe80::1]\r\n" +
			rest + "\r\n"},
		{"own fields", target.Target{URL: "http://a/", Header: []target.Header{{Name: "host", Value: "b"},
			{Name: "User-Agent", Value: "me"}, {Name: "ACCEPT", Value: ""}, {Name: "x-y", Value: "z"}}},
			"GET / HTTP/1.1\r\nhost: b\r\nUser-Agent: me\r\nACCEPT: \r\nx-y: z\r\n\r\n"},
		{"credentials", target.Target{URL: "http://u%40:p%3Aw@a/"}, "GET / HTTP/1.1\r\nHost: a\r\n" + rest +
			"Authorization: Basic dUA6cDp3\r\n\r\n"},
		{"credentials and a field", target.Target{URL: "http://u:p@a/",
			Header: []target.Header{{Name: "Authorization", Value: "Bearer x"}}},
			"GET / HTTP/1.1\r\nHost: a\r\n" + rest + "Authorization: Bearer x\r\n\r\n"},
		{"body", target.Target{URL: "http://a/", Body: target.Body{Text: "hello"}}, "POST / HTTP/1.1\r\nHost: a\r\n" +
			rest + "Content-Length: 5\r\n\r\nhello"},
		{"no body", target.Target{URL: "http://a/", Method: "PUT"}, "PUT / HTTP/1.1\r\nHost: a\r\n" + rest +
			"Content-Length: 0\r\n\r\n"},
		{"delete", target.Target{URL: "http://a/", Method: "DELETE"}, "DELETE / HTTP/1.1\r\nHost: a\r\n" +
			rest + "\r\n"},
		{"file", target.Target{URL: "http://a/", Body: target.Body{File: strings.NewReader("abcdef"), Size: 6}},
			"POST / HTTP/1.1\r\nHost: a\r\n" + rest + "Content-Length: 6\r\n\r\nabcdef"},
		{"large file", target.Target{URL: "http://a/", Body: target.Body{File: large, Size: maxJoined + 1}},
			"POST / HTTP/1.1\r\nHost: a\r\n" + rest + "Content-Length: 4194305\r\n\r\n"},
		{"empty file", target.Target{URL: "http://a/", Method: "GET", Body: target.Body{File: strings.NewReader("")}},
			"GET / HTTP/1.1\r\nHost: a\r\n" + rest + "Content-Length: 0\r\n\r\n"},
		{"template in the body", target.Target{URL: "http://a/{{seq}}", Body: target.Body{Text: "n={{seq}}!"}},
			"POST /0 HTTP/1.1\r\nHost: a\r\n" + rest + "Content-Length: 4\r\n\r\nn=0!"},
		{"quoted text", target.Target{URL: "http://a/", Body: target.Body{Text: `{{"{{"}}x}}`}},
			"POST / HTTP/1.1\r\nHost: a\r\n" + rest + "Content-Length: 5\r\n\r\n{{x}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := heads(t, 1, c.target)[0]; got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestContentLengthMatchesTheBody sends bodies with lengths around each power of ten.
func TestContentLengthMatchesTheBody(t *testing.T) {
	for _, n := range []int{0, 1, 8, 9, 10, 98, 99, 100, 998, 999, 1000, 9999, 100_000} {
		text := strings.Repeat("x", n) + "{{seq}}"
		for i, head := range heads(t, 12, target.Target{URL: "http://a/", Body: target.Body{Text: text}}) {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
			if err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			body, err := io.ReadAll(r.Body)
			if want := n + 1 + i/10; err != nil || len(body) != want || r.ContentLength != int64(want) {
				t.Errorf("request %d: a body of %d bytes, Content-Length %d, %v; want %d", i, len(body),
					r.ContentLength, err, want)
			}
		}
	}
}

func TestCompileRejectsBadTargets(t *testing.T) {
	for _, c := range []struct {
		target target.Target
		want   string
	}{
		{target.Target{}, `target 1: URL column 1: the URL "" has no scheme; write http://`},
		{target.Target{URL: "a.example/x"}, `column 1: the URL "a.example/x" has no scheme; write http://a.example/x`},
		{target.Target{URL: "ftp://a/"}, `column 1: the URL's scheme is "ftp"; it may be http or https`},
		{target.Target{URL: "http:///x"}, "column 8: the URL has no host"},
		{target.Target{URL: "http://a:/x y"}, `column 12: a URL cannot hold ' '; write %20`},
		{target.Target{URL: "http://a/\x00"}, `column 10: a URL cannot hold '\x00'; write %00`},
		{target.Target{URL: "http://a/{{seq}}\n"}, `column 17: a URL cannot hold '\n'`},
		{target.Target{URL: `http://a/{{" "}}`}, `column 10: a URL cannot hold ' '`},
		{target.Target{URL: "http://a:0/"}, `column 9: ":0" is not a port`},
		{target.Target{URL: "http://a:65536/"}, `column 9: ":65536" is not a port`},
		{target.Target{URL: "http://u@a:b:c/"}, `column 11: ":b:c" is not a port`},
		{target.Target{URL: "http://[::1]x/"}, `column 13: "x" is not a port`},
		{target.Target{URL: "http://[127.0.0.1]/"}, `column 9: "127.0.0.1" is not an IPv6 address`},
		{target.Target{URL: "http://bü cher/"},
			`column 8: the host "bü cher" is not a name: idna: disallowed rune U+0020`},
		{target.Target{URL: "http://a b/"}, `column 9: a host's name cannot hold ' '`},
		{target.Target{URL: "http://u%4@a/"}, "column 8: the URL's user and password"},
		{target.Target{URL: "http://a{{seq}}/"}, "column 9: the URL's host cannot have a template"},
		{target.Target{URL: "http://a/{{sequence}}"},
			`URL column 10: the template {{sequence}}: there is no "sequence"; there are {{seq}}, {{uuid}},`},
		{target.Target{URL: "http://a/", Method: "G T"}, `"G T" is not a method`},
		{target.Target{URL: "http://a/", Method: "CONNECT"}, "CONNECT asks for a tunnel"},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "a b", Value: "c"}}},
			`header "a b": this is not the name of a header`},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "", Value: "c"}}},
			`header "": this is not the name`},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "a", Value: "b\r\nc: d"}}},
			`header "a": column 2: a header cannot hold the control character '\r'`},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "a", Value: `b{{"\n"}}`}}},
			`header "a": column 2: a header cannot hold the control character '\n'`},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "content-length", Value: "3"}}},
			"it is made from the body"},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "Transfer-Encoding", Value: "chunked"}}},
			"sent with a Content-Length"},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "Host", Value: "b"},
			{Name: "host", Value: "c"}}}, `header "host": a request has one`},
		{target.Target{URL: "http://a/", Body: target.Body{Size: 3}}, "a Size of 3 and no File"},
		{target.Target{URL: "http://a/", Body: target.Body{Text: "x", File: strings.NewReader("x"), Size: 1}},
			"both a Text and a File"},
		{target.Target{URL: "http://a/", Body: target.Body{File: strings.NewReader("x"), Size: -1}},
			"a Size of -1 bytes"},
		{target.Target{URL: "http://a/", Body: target.Body{Text: "abc{{"}},
			"body column 4: {{ begins a template that no }} ends"},
	} {
		_, err := Compile([]target.Target{c.target}, false, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Compile(%+v) = %v\nwant %s", c.target, err, c.want)
		}
	}
}

func TestCompileWantsOneOrigin(t *testing.T) {
	for _, same := range [][2]string{{"http://a/", "http://A:80/x"}, {"https://a:443", "HTTPS://a"},
		{"http://[::1]/", "http://[0:0::1]/"}} {
		if _, err := Compile([]target.Target{{URL: same[0]}, {URL: same[1]}}, false, nil); err != nil {
			t.Errorf("%q: %v", same, err)
		}
	}
	for _, other := range []string{"https://a/", "http://b/", "http://a:81/"} {
		_, err := Compile([]target.Target{{URL: "http://a/"}, {URL: "http://a/2"}, {URL: other}}, false, nil)
		want := "several origins: http://a (target 1) and " + strings.TrimSuffix(other, "/") + " (target 3)"
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Rebase") {
			t.Errorf("http://a and %s: %v\nwant %s", other, err, want)
		}
	}
}

func TestOriginHasAnAddress(t *testing.T) {
	for url, want := range map[string]string{
		"http://a/": "a:80", "https://a": "a:443", "http://a:81": "a:81", "http://[::1]": "[::1]:80",
		"http://[fe80::1%25lo]:8/": "[fe80::1%lo]:8", "http://u:p@1.2.3.4/": "1.2.3.4:80",
	} {
		p, err := Compile([]target.Target{{URL: url}}, false, nil)
		if err != nil {
			t.Errorf("%s: %v", url, err)
		} else if got := p.Origin.Address(); got != want {
			t.Errorf("%s: dials %s, want %s", url, got, want)
		}
	}
}

// TestThreadsShareTheList checks that threads which do not send equally many requests send the targets in turn, each
// number once, and that the same seed yields the same requests.
func TestThreadsShareTheList(t *testing.T) {
	compile := func() *Program {
		p, err := Compile([]target.Target{
			{URL: "http://a/0/{{seq}}/{{rand 1 1000000}}"},
			{URL: "http://a/1"},
			{URL: "http://a/2", Method: "HEAD", Header: []target.Header{{Name: "X", Value: "{{uuid}}"}}},
		}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const requests = 30
	var want []string
	alone := compile().Script(7)
	for i := range requests {
		m := alone.Next()
		want = append(want, string(m.Head))
		if m.Fixed != (i%3 == 1) || m.NoBody != (i%3 == 2) ||
			i%3 == 0 && !strings.Contains(want[i], fmt.Sprintf("/0/%d/", i)) {
			t.Errorf("request %d: fixed %v, noBody %v:\n%q", i, m.Fixed, m.NoBody, want[i])
		}
	}
	p := compile()
	slow, fast := p.Script(7), p.Script(7)
	for i, head := range want {
		s := fast
		if i%7 == 0 {
			s = slow
		}
		if got := string(s.Next().Head); got != head {
			t.Errorf("with two threads, request %d is\n%q, want\n%q", i, got, head)
		}
	}
	if other := string(compile().Script(8).Next().Head); other == want[0] {
		t.Error("another seed makes the same request")
	}
}

// TestGeneratorsDivideTheList checks that generators of a list, each with a part of as many requests as the list has,
// send each of its targets once, with numbers that no other generator has.
func TestGeneratorsDivideTheList(t *testing.T) {
	const targets, generators = 12, 4
	var list []target.Target
	for i := range targets {
		list = append(list, target.Target{URL: fmt.Sprintf("http://a/%d/{{seq}}", i)})
	}
	paths, numbers := map[string]bool{}, map[string]bool{}
	for part := range generators {
		p, err := Compile(list, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Divide(part, generators)
		s := p.Script(1)
		for range targets / generators {
			path := strings.Split(strings.Fields(string(s.Next().Head))[1], "/")
			paths[path[1]], numbers[path[2]] = true, true
		}
	}
	if len(paths) != targets || len(numbers) != targets {
		t.Errorf("%d requests had %d paths and %d numbers", targets, len(paths), len(numbers))
	}
}

func TestNoKeepAliveClosesConnections(t *testing.T) {
	p, err := Compile([]target.Target{{URL: "http://a/{{seq}}",
		Header: []target.Header{{Name: "connection", Value: "x"}}}}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(p.Script(0).Next().Head)))
	if err != nil || !r.Close {
		t.Errorf("the request asks to close: %v, %v", r, err)
	}
}

// FuzzMessage reads compiled targets with net/http.
func FuzzMessage(f *testing.F) {
	f.Add("", "http://127.0.0.1:20000/hello?x=1#f", "X-A", "b", "", false)
	f.Add("PUT", "https://u:p@[::1]/%2f/../{{seq}}", "Host", "{{uuid}}", "{{rand -5 5}}{{now}}", true)
	f.Add("HEAD", "http://a//", "connection", "close", `{{"{{"}}`, false)
	f.Add("GET", "http://a?{{seq}}", "a", "\t b\x80 ", "", false)
	f.Add("POST", "http://A.b:8080", "Expect", "100-continue", "x", true)
	f.Fuzz(func(t *testing.T, method, url, name, value, body string, file bool) {
		in := target.Target{Method: method, URL: url, Header: []target.Header{{Name: name, Value: value}},
			Body: target.Body{Text: body}}
		if file {
			in.Body = target.Body{File: strings.NewReader(body), Size: int64(len(body))}
		}
		if strings.Contains(url+value+body, "line") {
			return // files are for other tests
		}
		p, err := Compile([]target.Target{in}, false, nil)
		if err != nil {
			return
		}
		for range 2 {
			s := p.Script(1)
			checkMessage(t, in, s.Next())
		}
	})
}

func checkMessage(t *testing.T, in target.Target, m *Message) {
	wire := bytes.Clone(m.Head)
	if m.File != nil {
		data, err := io.ReadAll(io.NewSectionReader(m.File, 0, m.Size))
		if err != nil {
			t.Fatal(err)
		}
		wire = append(wire, data...)
	}
	line, _, _ := strings.Cut(string(wire), "\r\n")
	method, rest, _ := strings.Cut(line, " ")
	path, ok := strings.CutSuffix(rest, " HTTP/1.1")
	if !ok || strings.Contains(path, " ") || !strings.HasPrefix(path, "/") || in.Method != "" && method != in.Method {
		t.Fatalf("%+v begins with the line %q", in, line)
	}
	reader := bufio.NewReader(bytes.NewReader(wire))
	got, err := http.ReadRequest(reader)
	if err != nil {
		if _, urlErr := url.ParseRequestURI(path); urlErr != nil {
			return // a path that net/http does not accept is sent unchanged
		}
		if strings.EqualFold(in.Header[0].Name, "Host") {
			return // so are odd hosts
		}
		t.Fatalf("%+v was compiled to what net/http does not read: %v\n%q", in, err, wire)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("the body of %q: %v", wire, err)
	}
	if left, _ := io.ReadAll(reader); len(left) > 0 {
		t.Fatalf("%+v: %q follows the request", in, left)
	}
	if got.RequestURI != path || got.Method != method {
		t.Errorf("net/http reads %s %s of %q", got.Method, got.RequestURI, line)
	}
	templates := strings.Contains(in.Header[0].Value+in.Body.Text, "{{")
	want := in.Body.Text
	if in.Body.File != nil {
		b, _ := io.ReadAll(io.NewSectionReader(in.Body.File, 0, in.Body.Size))
		want = string(b)
	}
	if !templates && string(body) != want {
		t.Errorf("body %q, want %q", body, want)
	}
	want = strings.Trim(in.Header[0].Value, " \t")
	if strings.EqualFold(in.Header[0].Name, "Host") {
		return
	}
	if values := got.Header.Values(in.Header[0].Name); !templates && (len(values) != 1 || values[0] != want) {
		t.Errorf("%s: %q, want %q", in.Header[0].Name, values, want)
	}
	if l, err := request.ParseLocation(in.URL); err != nil || got.Host != l.Origin.HostPort() {
		t.Errorf("Host %q, want %q, %v", got.Host, l.Origin.HostPort(), err)
	}
}

// TestEachTargetUsesAllLines checks that each of several targets uses all lines of a file, with any
// number of threads.
func TestEachTargetUsesAllLines(t *testing.T) {
	file := testkit.TempFile(t, "lines", "a\nb\nc\nd\n")
	var targets []target.Target
	for i := range 2 { // both divide the number of lines
		targets = append(targets, target.Target{URL: fmt.Sprintf("http://a/%d/{{line %q}}", i, file),
			Body: target.Body{Text: fmt.Sprintf("{{line %q}}", file)}})
	}
	p, err := Compile(targets, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for threads := 1; threads <= 4; threads++ {
		seen := map[string]int{}
		for range threads {
			s := p.Script(1)
			for range 16 {
				head := string(s.Next().Head)
				path := strings.Fields(head)[1]
				if line := path[len(path)-1:]; !strings.HasSuffix(head, "\r\n\r\n"+line) {
					t.Errorf("the URL and the body have different lines: %q", head)
				}
				seen[path]++
			}
		}
		for i := range 2 {
			for _, line := range "abcd" {
				if n := seen[fmt.Sprintf("/%d/%c", i, line)]; n != 2*threads {
					t.Errorf("%d threads: target %d had line %c %d times, want %d: %v", threads, i, line,
						n, 2*threads, seen)
				}
			}
		}
	}
}

func TestTemplateLinesRejectMistakes(t *testing.T) {
	empty := testkit.TempFile(t, "empty", "")
	odd := testkit.TempFile(t, "odd", "a\nb\x01c\n")
	line := func(file string) string { return `x{{line "` + file + `"}}` }
	for _, c := range []struct {
		target target.Target
		want   string // "" for no error
	}{
		{target.Target{URL: "http://a/", Body: target.Body{Text: line(empty)}}, "body column 2: " +
			empty + " is empty"},
		{target.Target{URL: "http://a/" + line(empty)}, "URL column 11: " + empty + " is empty"},
		{target.Target{URL: "http://a/", Body: target.Body{Text: line("/no/such/file")}},
			"/no/such/file: no such file"},
		{target.Target{URL: "http://a/", Header: []target.Header{{Name: "X", Value: line(odd)}}},
			`header "X": column 2: ` + odd + `:2:2: a header cannot hold the control character '\x01'`},
		{target.Target{URL: "http://a/" + line(odd)}, ""},
		{target.Target{URL: "http://a/", Body: target.Body{Text: line(odd)}}, ""},
	} {
		_, err := Compile([]target.Target{c.target}, false, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v\nwant %s", c.target, err, c.want)
		}
	}
}

// TestTemplatesAllocateNothing checks that generating a request does not allocate.
func TestTemplatesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	line := `{{line "` + testkit.TempFile(t, "lines", "a\nb\n") + `"}}`
	all := "{{seq}}{{uuid}}{{rand 1 100}}{{now}}" + line
	for name, one := range map[string]target.Target{
		"fixed":  {URL: "http://a/"},
		"URL":    {URL: "http://a/" + all},
		"header": {URL: "http://a/", Header: []target.Header{{Name: "X", Value: all}}},
		"body":   {URL: "http://a/", Body: target.Body{Text: all}},
		"file":   {URL: "http://a/" + all, Body: target.Body{File: strings.NewReader("x"), Size: 1}},
		"all of it": {URL: "http://a/" + all, Header: []target.Header{{Name: "X", Value: all}},
			Body: target.Body{Text: all}},
	} {
		p, err := Compile([]target.Target{one}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := p.Script(1)
		for range 1000 { // the buffer grows with the number of digits
			s.Next()
		}
		if n := testing.AllocsPerRun(1000, func() { s.Next() }); n != 0 {
			t.Errorf("%s: %v allocations a request, want 0", name, n)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	for _, c := range []struct{ name, path string }{
		{"fixed", ""}, {"text", `{{"x"}}{{seq}}`},
		{"seq", "{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}{{seq}}"},
		{"rand", strings.Repeat("{{rand 1 100}}", 10)}, {"uuid", strings.Repeat("{{uuid}}", 10)},
		{"now", strings.Repeat("{{now}}", 10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile([]target.Target{{URL: "http://a/" + c.path}}, false, nil)
			if err != nil {
				b.Fatal(err)
			}
			s := p.Script(1)
			b.ReportAllocs()
			for b.Loop() {
				s.Next()
			}
		})
	}
}
