package log_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

// A credential has its secret in its own JSON, under an escaped key.
type credential struct{ secret string }

func (c credential) MarshalJSON() ([]byte, error) {
	return []byte(`{"user":"ada","\u0050assword":"` + c.secret + `"}`), nil
}

func TestRedactHidesValues(t *testing.T) {
	type login struct {
		User     string
		Password string `json:"passWORD"`
	}
	for name, c := range map[string]struct {
		add  func(log.Event) log.Event
		want string
	}{
		"any case": {func(e log.Event) log.Event {
			return e.Str("password", "x").Str("PASSWORD", "x").Str("PassWord", "x")
		},
			`"data":{"password":"[redacted]","PASSWORD":"[redacted]","PassWord":"[redacted]"}`},
		"other keys": {func(e log.Event) log.Event {
			return e.Str("passwords", "x").Str("pass word", "x").Str("", "x")
		},
			`"data":{"passwords":"x","pass word":"x","":"x"}`},
		"any depth": {func(e log.Event) log.Event {
			return e.Object("a", func(e log.Event) {
				e.Array("b", func(e log.Event) { e.Object("", func(e log.Event) { e.Int("password", 1).Int("c", 2) }) })
			})
		}, `"data":{"a":{"b":[{"password":"[redacted]","c":2}]}}`},
		"elements have no key": {func(e log.Event) log.Event {
			return e.Array("a", func(e log.Event) { e.Str("password", "x") })
		}, `"data":{"a":["x"]}`},
		"nested fields": {func(e log.Event) log.Event {
			return e.Array("password", func(e log.Event) { e.Str("", "x") }).
				Object("password", func(e log.Event) { e.Str("a", "x") }).
				Any("password", map[string]any{"a": "x"}).Strs("password", []string{"x"})
		}, `"data":{"password":"[redacted]","password":"[redacted]","password":"[redacted]","password":"[redacted]"}`},
		"struct": {func(e log.Event) log.Event { return e.Any("a", login{"ada", "x"}) },
			`"data":{"a":{"User":"ada","passWORD":"[redacted]"}}`},
		"map": {func(e log.Event) log.Event {
			return e.Any("a", map[string]any{"b": []any{map[string]any{"Password": map[string]int{"x": 1}}, 1.5, nil},
				"c": map[string]int{}})
		}, `"data":{"a":{"b":[{"Password":"[redacted]"},1.5,null],"c":{}}}`},
		"raw JSON": {func(e log.Event) log.Event {
			return e.Any("a", json.RawMessage(`[{"\u0070\u0041ssword" : {"b":["x"]}, "n":1e400}]`))
		}, `"data":{"a":[{"\u0070\u0041ssword":"[redacted]","n":1e400}]}`},
		"JSON of its own": {func(e log.Event) log.Event { return e.Any("a", credential{"x"}) },
			`"data":{"a":{"user":"ada","\u0050assword":"[redacted]"}}`},
		"errors": {func(e log.Event) log.Event {
			inner := fault{"inner", members{{"password", "x"}, {"b", "y"}}}
			return e.Err(errors.Join(fmt.Errorf("outer: %w", inner)))
		}, `"errors":[{"message":"outer: inner","data":{"password":"[redacted]","b":"y"}}]`},
		"query": {func(e log.Event) log.Event {
			return e.HTTP(&log.HTTP{Query: "a=1&p%61ssword=x&pass%2577ord=x&PASSWORD=x&password&b=password"})
		}, `"http":{"status_code":0,"query":"a=1&p%61ssword=[redacted]&pass%2577ord=[redacted]&PASSWORD=[redacted]` +
			`&password&b=password"}`},
		"referer": {func(e log.Event) log.Event {
			return e.HTTP(&log.HTTP{Referer: "https://ada:x@h/a@b?password=x&a=1#password=x"})
		}, `"http":{"status_code":0,"referer":"https://[redacted]@h/a@b?password=[redacted]&a=1#password=[redacted]"}`},
		"referer without a host": {func(e log.Event) log.Event {
			return e.HTTP(&log.HTTP{Referer: "/a?password=x&next=https://h/#//b@c"})
		}, `"http":{"status_code":0,"referer":"/a?password=[redacted]&next=https://h/#//b@c"}`},
		"the event's own keys": {func(e log.Event) log.Event {
			return e.TraceID("password").Auth("password", "password").
				HTTP(&log.HTTP{Path: "/password=x", UserAgent: "password=x"})
		}, `"trace_id":"password","severity":3,"http":{"status_code":0,"path":"/password=x"` +
			`,"user_agent":"password=x"},"auth":{"identity":"password","identity_type":"password"}`},
	} {
		t.Run(name, func(t *testing.T) {
			line := lineWith(t, log.Options{Redact: []string{"pAssword"}}, c.add)
			if !strings.HasSuffix(line, c.want+"}\n") {
				t.Errorf("got  %swant %s", line, c.want)
			}
		})
	}
}

// TestRedactHidesSecretsInURLs logs URLs of the types that the standard library has.
func TestRedactHidesSecretsInURLs(t *testing.T) {
	const text = "https://ada:x@h.example/a?page=2&token=canary"
	const shown = "https://[redacted]@h.example/a?page=2&token=[redacted]"
	to, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	failed := &url.Error{Op: "Get", URL: text, Err: errors.New("refused")}
	message := `Get \"` + shown + `\": refused`
	for name, c := range map[string]struct {
		add  func(log.Event) log.Event
		want string
	}{
		"Any":      {func(e log.Event) log.Event { return e.Any("to", to) }, `"data":{"to":"` + shown + `"}`},
		"a value":  {func(e log.Event) log.Event { return e.Any("to", *to) }, `"data":{"to":"` + shown + `"}`},
		"Stringer": {func(e log.Event) log.Event { return e.Stringer("to", to) }, `"data":{"to":"` + shown + `"}`},
		"nil":      {func(e log.Event) log.Event { return e.Any("to", (*url.URL)(nil)) }, `"data":{"to":null}`},
		"Values": {func(e log.Event) log.Event { return e.Any("query", to.Query()) },
			`"data":{"query":{"page":["2"],"token":"[redacted]"}}`},
		"error": {func(e log.Event) log.Event { return e.Err(failed) }, `"errors":[{"message":"` + message + `"}]`},
		"wrapped errors": {func(e log.Event) log.Event { return e.Err(fmt.Errorf("a: %w, %w", errors.New("refused"), failed)) },
			`"errors":[{"message":"a: refused, ` + message + `"}]`},
		"error in a field": {func(e log.Event) log.Event { return e.Any("cause", failed) }, `"data":{"cause":"` + message + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			line := lineWith(t, log.Options{Redact: []string{"token"}}, c.add)
			if !strings.HasSuffix(line, c.want+"}\n") {
				t.Errorf("got  %swant %s", line, c.want)
			}
		})
	}
}

// A link is a URL with another type.
type link url.URL

// TestRedactHidesSecretsInURLsInsideValues logs values that encoding/json encodes. Each is expected like the same value
// with a URL whose secrets are already replaced.
func TestRedactHidesSecretsInURLsInsideValues(t *testing.T) {
	secret := url.URL{Scheme: "https", User: url.UserPassword("ada", "canary"), Host: "h.example", Path: "/token=x",
		RawQuery: "page=2&t%6Fken=canary", Fragment: "token=canary\u202e;b", RawFragment: "a&token=c%61nary"}
	hidden := secret
	hidden.RawQuery, hidden.Fragment, hidden.RawFragment = "page=2&t%6Fken=[redacted]", "token=[redacted]",
		"a&token=[redacted]"
	opaque, hiddenOpaque := secret, hidden
	opaque.Opaque, hiddenOpaque.Opaque = "//ada:canary@h.example/?token=canary", "//[redacted]@h.example/?token=[redacted]"
	for name, within := range map[string]func(u *url.URL) any{
		"slice":    func(u *url.URL) any { return []*url.URL{u, nil, u} },
		"array":    func(u *url.URL) any { return [1]url.URL{*u} },
		"map":      func(u *url.URL) any { return map[string]any{"to": u, "n": 1} },
		"struct":   func(u *url.URL) any { return &struct{ To *url.URL }{u} },
		"embedded": func(u *url.URL) any { return struct{ *url.URL }{u} },
		"pointer":  func(u *url.URL) any { return &u },
		"own type": func(u *url.URL) any { return link(*u) },
	} {
		for _, c := range []struct{ secret, hidden url.URL }{{secret, hidden}, {opaque, hiddenOpaque}} {
			value := within(&c.secret)
			want := `"data":{"v":` + plainJSON(t, within(&c.hidden)) + "}}\n"
			o := log.Options{Redact: []string{"token"}}
			line := lineWith(t, o, func(e log.Event) log.Event { return e.Any("v", value) })
			if !strings.HasSuffix(line, want) {
				t.Errorf("%s:\ngot  %swant %s", name, line, want)
			}
			line = slogLine(t, o, func(l *slog.Logger) { l.Info("event", "v", value) })
			if !strings.HasSuffix(line, want) {
				t.Errorf("%s, slog:\ngot  %swant %s", name, line, want)
			}
			o.Format = log.FormatLTSV
			line = lineWith(t, o, func(e log.Event) log.Event { return e.Any("v", value) })
			if strings.Contains(line, "canary") || strings.Contains(line, "c%61nary") {
				t.Errorf("%s, LTSV: got %s", name, line)
			}
		}
	}
}

// TestRedactHidesSecretsInMembersOfKnownTypes covers members that are searched only after a certain other one.
func TestRedactHidesSecretsInMembersOfKnownTypes(t *testing.T) {
	const secret, hidden = "https://ada:canary@h.example/?token=canary", "https://[redacted]@h.example/?token=[redacted]"
	failed := &url.Error{Op: "Get", URL: secret}
	request := log.HTTP{Path: "/a", Query: "token=canary&b", UserAgent: "c", Referer: secret}
	shown := log.HTTP{Path: "/a", Query: "token=[redacted]&b", UserAgent: "c", Referer: hidden}
	const others = `[{"URL":"?token=a"},{"Op":{"URL":"?token=b"},"n":1,"URL":"?token=c"},{"Op":1,"URL":2},` +
		`{"Query":"token=d"},{"Referer":"?token=e"}]`
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"url.Error":         {[]error{failed}, `[{"Op":"Get","URL":"` + hidden + `","Err":null}]`},
		"HTTP":              {request, plainJSON(t, shown)},
		"HTTP in a slice":   {[]*log.HTTP{&request}, plainJSON(t, []*log.HTTP{&shown})},
		"other such member": {json.RawMessage(others), others},
	} {
		t.Run(name, func(t *testing.T) {
			line := lineWith(t, log.Options{Redact: []string{"token"}},
				func(e log.Event) log.Event { return e.Any("v", c.value) })
			if !strings.HasSuffix(line, `"data":{"v":`+c.want+"}}\n") {
				t.Errorf("got  %swant %s", line, c.want)
			}
		})
	}
}

// TestRedactMatchesTheEndOfDottedKeys covers keys that name a path, as in OpenTelemetry and in forms.
func TestRedactMatchesTheEndOfDottedKeys(t *testing.T) {
	line := lineWith(t, log.Options{Redact: []string{"authorization", "token"}}, func(e log.Event) log.Event {
		return e.Str("http.request.header.Authorization", "x").Str("token.kind", "jwt").
			HTTP(&log.HTTP{Query: "user[token]=x&user%5Btoken%5D[]=x&[]=y"})
	})
	want := `"query":"user[token]=[redacted]&user%5Btoken%5D[]=[redacted]&[]=y"},` +
		`"data":{"http.request.header.Authorization":"[redacted]","token.kind":"jwt"}}`
	if !strings.HasSuffix(line, want+"\n") {
		t.Errorf("got  %swant %s", line, want)
	}
}

// TestRedactRefusesPaths passes the forms that pino, bunyan and winston users write.
func TestRedactRefusesPaths(t *testing.T) {
	for key, hint := range map[string]string{
		"*.password": `"password"`, "req.headers.authorization": `"authorization"`, "user[0].token": `"token"`,
		"path.to.key": `"key"`, "stuff.thats[*].secret": `"secret"`, `req.headers["set-cookie"]`: `"set-cookie"`,
		"test.*.secret": `"secret"`, "a[*]": `"a"`, "password*": `"password"`, "*": "such as password", "[*]": "such as password",
		"": "such as password",
	} {
		err := log.CheckRedactKey(key)
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: got %v, want %s", key, err, hint)
		}
		func() {
			defer func() {
				if got := recover(); got != "log: "+err.Error() {
					t.Errorf("New with %q: got %v, want a panic with %v", key, got, err)
				}
			}()
			log.New(io.Discard, log.Options{Redact: []string{key}})
		}()
	}
	for _, key := range []string{"password", "X-Api-Key", "api key", "Schlüssel"} {
		if err := log.CheckRedactKey(key); err != nil {
			t.Error(err)
		}
	}
}

// TestRedactAppliesToSlog covers keys that slog handles in its own way.
func TestRedactAppliesToSlog(t *testing.T) {
	for name, c := range map[string]struct {
		call func(*slog.Logger)
		want string
	}{
		"group": {func(l *slog.Logger) { l.Info("event", slog.Group("secret", "a", "x")) },
			`,"severity":3,"data":{"secret":"[redacted]"}}`},
		"in a group": {func(l *slog.Logger) { l.WithGroup("g").Info("event", "Secret", "x") },
			`,"severity":3,"data":{"g":{"Secret":"[redacted]"}}}`},
		"with": {func(l *slog.Logger) { l.With("secret", "x").Info("event") },
			`,"severity":3,"data":{"secret":"[redacted]"}}`},
		"error": {func(l *slog.Logger) { l.Info("event", "err", errRefused) },
			`,"severity":3,"data":{"err":"[redacted]"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			line := slogLine(t, log.Options{Namespace: "test", Redact: []string{"secret", "err"}}, c.call)
			if got := afterHead(t, line, `"namespace":"test","event":"event"`); got != c.want+"\n" {
				t.Errorf("got  %swant %s", got, c.want)
			}
		})
	}
}

// TestRedactChangesNothingElse logs random events with redacted keys that do
// not occur in them.
func TestRedactChangesNothingElse(t *testing.T) {
	inUTC(t)
	for seed := range uint64(sized(200, 2000)) {
		for _, format := range formats {
			m := (&choices{chance(seed, 400)}).model()
			for _, maxBytes := range []int{700, 1 << 20} {
				o := log.Options{Format: format, MaxEventBytes: maxBytes}
				want := m.log(t, o)
				o.Redact = []string{"no such key, which is as long as any \x00", "\x01\x02"}
				if got := m.log(t, o); got != want {
					t.Fatalf("seed %d, %v:\ngot  %qwant %q", seed, format, got, want)
				}
			}
		}
	}
}

// TestRedactionPrecedesCutting logs a referer that is cut inside its password.
func TestRedactionPrecedesCutting(t *testing.T) {
	for length := 400; length < 700; length++ {
		for _, format := range formats {
			o := log.Options{Format: format, MaxEventBytes: 512, Redact: []string{"token"}}
			line := lineWith(t, o, func(e log.Event) log.Event {
				return e.HTTP(&log.HTTP{Referer: "https://ada:" + strings.Repeat("canary", length/6) +
					"@example.com/?token=" + strings.Repeat("canary", 200)})
			})
			if strings.Contains(line, "canary") {
				t.Fatalf("%v, password of %d bytes: %s", format, length, line)
			}
		}
	}
	for _, query := range []string{"token=", "%74o%6Ben=", "a=" + strings.Repeat("x", 600) + "&token="} {
		line := lineWith(t, log.Options{MaxEventBytes: 512, Redact: []string{"token"}}, func(e log.Event) log.Event {
			return e.HTTP(&log.HTTP{Query: query + strings.Repeat("canary", 200)})
		})
		if strings.Contains(line, "canary") {
			t.Fatalf("query %s: %s", query, line)
		}
	}
}

// TestLongQueryIsCutAfterRedaction checks that the limit applies to the
// redacted query.
func TestLongQueryIsCutAfterRedaction(t *testing.T) {
	query := "token=" + strings.Repeat("x", 5000) + "&page=2"
	for _, format := range []log.Format{log.FormatJSON, log.FormatLTSV} {
		line := lineWith(t, log.Options{Format: format, Redact: []string{"token"}, MaxEventBytes: 1024},
			func(e log.Event) log.Event {
				return e.HTTP(&log.HTTP{Query: query, Referer: "http://user:" + query + "@host/?" + query})
			})
		if want := "token=[redacted]&page=2"; strings.Count(line, want) != 2 || strings.Contains(line, "truncated") {
			t.Errorf("%v: %q is not there twice, or something was cut: %s", format, want, line)
		}
	}
}

func TestURLFieldsHideSecrets(t *testing.T) {
	const url = "//ada:x@a.example/?page=2&pass%77ord=x"
	for want, redact := range map[string][]string{
		`"data":{"to":"//[redacted]@a.example/?page=2&pass%77ord=[redacted]","password":"[redacted]"}`: {"password"},
		`"data":{"to":"` + url + `","password":"` + url + `"}`:                                         nil,
	} {
		var out strings.Builder
		log.New(&out, log.Options{Redact: redact}).Info("e").URL("to", url).URL("password", url).Send()
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %s", out.String(), want)
		}
	}
}
