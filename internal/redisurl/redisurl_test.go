package redisurl_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redisurl"
)

func TestParseReadsURLs(t *testing.T) {
	for text, want := range map[string]redisurl.URL{
		"redis://a":                    {Servers: []string{"a:6379"}},
		"redis://10.0.0.5:6380/3":      {Servers: []string{"10.0.0.5:6380"}, Database: 3},
		"redis://[::1]:6380,b/":        {Servers: []string{"[::1]:6380", "b:6379"}},
		"redis://:p%40s%2Fs@a":         {Servers: []string{"a:6379"}, Password: "p@s/s"},
		"redis://ann:a@b:c@h:1":        {Servers: []string{"h:1"}, User: "ann", Password: "a@b:c"},
		"redis://a?timeout=50ms":       {Servers: []string{"a:6379"}, Timeout: 50 * time.Millisecond},
		"rediss://a?ca=x%20y.pem":      {Servers: []string{"a:6379"}, TLS: true, CA: "x y.pem"},
		"rediss://a?cert=c.pem":        {Servers: []string{"a:6379"}, TLS: true, Cert: "c.pem", Key: "c.pem"},
		"rediss://a?cert=c&key=/d/k":   {Servers: []string{"a:6379"}, TLS: true, Cert: "c", Key: "/d/k"},
		"redis://:%F0%9F%98%80%20@a:1": {Servers: []string{"a:1"}, Password: "\U0001F600 "},
	} {
		got, err := redisurl.Parse(text)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
			continue
		}
		if again, err := redisurl.Parse(got.String()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s as a text is %s, which is read as %+v, %v", text, got, again, err)
		}
	}
}

func TestParseReportsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "does not begin with",
		"http://a":                    "does not begin with",
		"redis:a":                     "does not begin with",
		"redis://":                    "not an address",
		"redis://:6379":               "not an address",
		"redis://a:0":                 "not an address",
		"redis://a:70000":             "not an address",
		"redis://::1":                 "not an address",
		"redis://a,":                  "not an address",
		"redis://a,a:6379":            "twice",
		"redis://a/x":                 "not a number",
		"redis://a,b/1":               "no databases",
		"redis://secret@a":            "no password",
		"redis://:secret%2@a":         "%25",
		"redis://:secret@a?x=1":       "no parameter",
		"redis://a?timeout=1":         "not a duration",
		"redis://a?timeout=0s":        "not a duration",
		"redis://a?ca=x":              "needs rediss",
		"rediss://a?key=x":            "no cert",
		"rediss://a?ca=x&ca=y":        "twice",
		"redis://:secret@a?timeout=%": "malformed",
	} {
		_, err := redisurl.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// FuzzParse checks that the text of a URL is read as the same URL.
func FuzzParse(f *testing.F) {
	f.Add("rediss://u:p%20@[::1]:1,b:2?timeout=1s&ca=r&cert=c&key=k")
	f.Add("redis://a/2")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := redisurl.Parse(text)
		if err != nil {
			return
		}
		again, err := redisurl.Parse(u.String())
		if err != nil || !reflect.DeepEqual(again, u) {
			t.Fatalf("%q is %+v; %q is %+v, %v", text, u, u.String(), again, err)
		}
	})
}
