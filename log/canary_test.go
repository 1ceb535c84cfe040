package log_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
)

var secretKeys = []string{"authorization", "Cookie", "set-cookie", "Proxy-Authorization", "X-Api-Key", "password",
	"api key", "schlüssel"}

// A hider puts a secret into an event.
type hider struct{ *rand.Rand }

// key returns one of secretKeys in any case.
func (h hider) key() string {
	return h.eachByte(secretKeys[h.IntN(len(secretKeys))], func(c byte) string {
		if 'a' <= c|0x20 && c|0x20 <= 'z' && h.IntN(2) == 0 {
			c ^= 0x20
		}
		return string([]byte{c})
	})
}

func (h hider) eachByte(s string, as func(byte) string) (t string) {
	for i := range len(s) {
		t += as(s[i])
	}
	return t
}

// jsonKey returns a quoted key with some of its characters escaped.
func (h hider) jsonKey() string {
	t := ""
	for _, c := range h.key() {
		switch h.IntN(3) {
		case 0:
			t += fmt.Sprintf(`\u%04x`, c)
		case 1:
			t += fmt.Sprintf(`\u%04X`, c)
		default:
			t += string(c)
		}
	}
	return `"` + t + `"`
}

// parameter returns a key as in a query: escaped once, twice or in part.
func (h hider) parameter() string {
	return h.eachByte(h.key(), func(c byte) string {
		switch h.IntN(4) {
		case 0:
			return fmt.Sprintf("%%%02x", c)
		case 1:
			return fmt.Sprintf("%%%02X", c)
		case 2:
			return fmt.Sprintf("%%25%02x", c)
		}
		if c == ' ' {
			return "+"
		}
		return string([]byte{c})
	})
}

// query returns a query in which the canary is the value of a secret key, raw
// or with some of its bytes escaped.
func (h hider) query(canary string) string {
	value := h.eachByte(canary, func(c byte) string {
		if h.IntN(4) == 0 {
			return fmt.Sprintf("%%%02x", c)
		}
		return string([]byte{c})
	})
	before := []string{"", "a=1&", "a;", "&&", "%=%&", "a=1;b=%zz&", "next=https://b@h/&"}[h.IntN(7)]
	after := []string{"", "&", "&a=1", ";a", "#top"}[h.IntN(5)]
	return before + h.parameter() + "=" + value + after
}

func (h hider) referer(canary string) string {
	switch h.IntN(5) {
	case 0:
		return "https://ada:" + canary + "@example.com/a?b=1"
	case 1:
		return "//" + canary + "@example.com"
	case 2:
		return "https://example.com:80/a/@b?" + h.query(canary)
	case 3:
		return "/a?" + h.query(canary)
	}
	return "https://example.com/?a=1#" + h.query(canary)
}

// validUTF8 returns a text of hide that is valid UTF-8. encoding/json replaces other bytes, and a secret key in which it
// has replaced one is another key.
func (h hider) validUTF8(hide func(canary string) string, canary string) string {
	for {
		if text := hide(canary); utf8.ValidString(text) {
			return text
		}
	}
}

// A secretive value has a secret in its fields. A refusal is one as an error.
type secretive struct{ key, canary string }

func (s secretive) MarshalLog(e log.Event) error {
	e.Str("a", "b").Str(s.key, s.canary)
	return nil
}

type refusal struct{ secretive }

func (refusal) Error() string { return "refused" }

type asJSONText string

func (s asJSONText) MarshalJSON() ([]byte, error) { return []byte(s), nil }

type loginForm struct {
	User     string `json:"user"`
	Password string `json:"PassWord"`
	Headers  map[string][]string
}

// places has a function for each place of an event that can contain a secret.
var places = map[string]func(h hider, l *log.Logger, canary string){
	"Str":      func(h hider, l *log.Logger, c string) { l.Info("event").Str(h.key(), c).Send() },
	"Bytes":    func(h hider, l *log.Logger, c string) { l.Info("event").Bytes(h.key(), []byte(c)).Send() },
	"Hex":      func(h hider, l *log.Logger, c string) { l.Info("event").Hex(h.key(), []byte(c)).Send() },
	"Strs":     func(h hider, l *log.Logger, c string) { l.Info("event").Strs(h.key(), []string{"a", c}).Send() },
	"Stringer": func(h hider, l *log.Logger, c string) { l.Info("event").Stringer(h.key(), textOf(c)).Send() },
	"Any": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any(h.key(), c).Any(h.key(), errors.New(c)).Any(h.key(), []byte(c)).Any(h.key(), textOf(c)).
			Any(h.key(), [1]string{c}).Send()
	},
	"Object": func(h hider, l *log.Logger, c string) {
		l.Info("event").Object("a", func(e log.Event) {
			e.Object("b.c", func(e log.Event) { e.Str(h.key(), c) })
		}).Send()
	},
	"in an Object": func(h hider, l *log.Logger, c string) {
		l.Info("event").Object(h.key(), func(e log.Event) { e.Str("a", c).Strs("b", []string{c}) }).Send()
	},
	"Array": func(h hider, l *log.Logger, c string) {
		l.Info("event").Array("a", func(e log.Event) { e.Object("", func(e log.Event) { e.Str(h.key(), c) }) }).Send()
	},
	"Marshaler": func(h hider, l *log.Logger, c string) { l.Info("event").Any("a", secretive{h.key(), c}).Send() },
	"map": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", map[string]any{"b": []any{1, map[string]any{h.key(): c}},
			h.key(): map[string]string{"x": c}}).Send()
	},
	"struct": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", &loginForm{"ada", c, map[string][]string{"Accept": nil, h.key(): {c, c}}}).Send()
	},
	"raw JSON": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", json.RawMessage(` [ {"b" : 1, `+h.jsonKey()+` : {"c": ["`+c+`"]}, "d": {}} ] `)).Send()
	},
	"JSON of its own": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", asJSONText(`{`+h.jsonKey()+`:"`+c+`",`+h.jsonKey()+`:"`+c+`"}`)).Send()
	},
	"With": func(h hider, l *log.Logger, c string) {
		l.With().Str(h.key(), c).Logger().With().Any("a", secretive{h.key(), c}).Logger().Info("event").Send()
	},
	"error": func(h hider, l *log.Logger, c string) {
		l.Info("event").Err(errs.Wrap(fmt.Errorf("a: %w", refusal{secretive{h.key(), c}}), "b").Str(h.key(), c).
			Any("m", map[string]string{h.key(): c})).Send()
	},
	"joined errors": func(h hider, l *log.Logger, c string) {
		l.Info("event").Err(errors.Join(refusal{secretive{h.key(), c}}, refusal{secretive{h.key(), c}})).
			Object("o", func(e log.Event) { e.Err(refusal{secretive{h.key(), c}}) }).Send()
	},
	"slog": func(h hider, l *log.Logger, c string) {
		slog.New(l.Handler()).With(h.key(), c).
			Info("event", h.key(), c, "a", map[string]string{h.key(): c}, slog.Group("g", h.key(), c))
	},
	"slog groups": func(h hider, l *log.Logger, c string) {
		slog.New(l.Handler()).WithGroup("g").With("a", 1).WithGroup(h.key()).With("b", c).WithGroup("h").
			Info("event", "c", c, slog.Group("i", "j", c))
	},
	"slog group": func(h hider, l *log.Logger, c string) {
		slog.New(l.Handler()).Info("event", slog.Group(h.key(), "a", c, slog.Group("b", "c", c)), "err",
			refusal{secretive{h.key(), c}})
	},
	"query": func(h hider, l *log.Logger, c string) {
		l.Info("event").HTTP(&log.HTTP{Path: "/", Query: h.query(c)}).Send()
	},
	"referer": func(h hider, l *log.Logger, c string) { l.Info("event").HTTP(&log.HTTP{Referer: h.referer(c)}).Send() },
	"nested request": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("upstream", &log.HTTP{Query: h.query(c), Referer: h.referer(c)}).Send()
	},
	"request in an Array": func(h hider, l *log.Logger, c string) {
		l.Info("event").Array("tries", func(e log.Event) {
			e.Any("", &log.HTTP{Query: h.query(c), Referer: h.referer(c)})
		}).Send()
	},
	"URL in a slice": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", []any{1, &url.URL{Host: "h", RawQuery: h.validUTF8(h.query, c)}}).Send()
	},
	"URL in a struct": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", struct{ To url.URL }{url.URL{Path: "/", Fragment: h.validUTF8(h.query, c)}}).Send()
	},
	"url.Error in a slice": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", []error{&url.Error{Op: "Get", URL: h.validUTF8(h.referer, c)}}).Send()
	},
	"request in a slice": func(h hider, l *log.Logger, c string) {
		l.Info("event").Any("a", []log.HTTP{{Query: h.validUTF8(h.query, c), Referer: h.validUTF8(h.referer, c)}}).Send()
	},
	"slog URL in a map": func(h hider, l *log.Logger, c string) {
		slog.New(l.Handler()).Info("event", "a", map[string]*url.URL{"b": {Host: "h", RawQuery: h.validUTF8(h.query, c)}})
	},
	"cut value": func(h hider, l *log.Logger, c string) {
		long := strings.Repeat(c, 1+h.IntN(2000/len(c)))
		l.Info("event").Str(h.key(), long).Str("long", strings.Repeat("x", h.IntN(2000))).
			Any("m", map[string]string{h.key(): long}).
			HTTP(&log.HTTP{Query: h.query(long), Referer: h.referer(long)}).Send()
	},
}

// canary returns a secret of letters and digits. Only the encodings that sees
// undoes can hide it.
func (h hider) canary() string {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return h.eachByte(strings.Repeat("x", 15+h.IntN(10)),
		func(byte) string { i := h.IntN(len(alphabet)); return alphabet[i : i+1] })
}

// TestNoCanaryIsSeen logs secrets under redacted keys in every place that can
// contain one, and searches the output for them, encoded and decoded. The same
// events without redaction check the search.
func TestNoCanaryIsSeen(t *testing.T) {
	inUTC(t)
	each := sized(500, 10_000)/len(places) + 1
	for name, hide := range places {
		t.Run(name, func(t *testing.T) {
			found := 0
			for seed := range uint64(each) {
				h := hider{rand.New(rand.NewPCG(seed, 7))}
				canary := h.canary()
				o := log.Options{Format: formats[h.IntN(len(formats))], MaxEventBytes: []int{512, 1 << 20}[h.IntN(2)]}
				event := func(o log.Options) string {
					var w lineWriter
					hide(hider{rand.New(rand.NewPCG(seed, 8))}, log.New(&w, o), canary)
					return strings.Join(w.lines, "")
				}
				if sees(event(o), canary) {
					found++
				}
				o.Redact = secretKeys
				if line := event(o); sees(line, canary) {
					t.Fatalf("seed %d: %s is in %s", seed, canary, line)
				}
			}
			if found < each/2 { // the human format and the limit leave much out
				t.Errorf("without the list %d of %d were seen, want most", found, each)
			}
		})
	}
}

var (
	base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{16,}`)
	hexText    = regexp.MustCompile(`(?i)([0-9a-f]{2}){12,}`)
	percents   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	escapes    = regexp.MustCompile(`\\(u[0-9A-Fa-f]{4}|.)`)
)

// sees reports whether the line, or anything that it decodes to, contains the
// canary or a long part of it.
func sees(line, canary string) bool {
	canary = strings.ToLower(canary[:12])
	texts := []string{line}
	for range 3 {
		line = percents.ReplaceAllStringFunc(escapes.ReplaceAllStringFunc(line, unescapedCharacter),
			func(s string) string { return bytesOf(s[1:]) })
		texts = append(texts, line)
	}
	for _, text := range texts {
		for _, encoded := range base64Text.FindAllString(text, -1) {
			decoded, _ := base64.RawStdEncoding.DecodeString(encoded[:len(encoded)/4*4])
			texts = append(texts, string(decoded))
		}
		for _, encoded := range hexText.FindAllString(text, -1) {
			texts = append(texts, bytesOf(encoded))
		}
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), canary) {
			return true
		}
	}
	return false
}

// unescapedCharacter undoes an escape of a JSON string or of LTSV.
func unescapedCharacter(escape string) string {
	if escape[1] != 'u' || len(escape) != 6 {
		return escape[1:]
	}
	var c rune
	fmt.Sscanf(escape[2:], "%x", &c)
	return string(c)
}

func bytesOf(hexadecimal string) string {
	b, _ := hex.DecodeString(hexadecimal)
	return string(b)
}
