package natssink_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/log/natssink"
)

func TestParseReadsAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, subject, servers string
		user, password, token string
	}{
		{url: "nats://a/logs", subject: "logs", servers: "nats://a:4222"},
		{url: "nats://a:1,b,[::1]:2,[::1]/logs.shop.>", subject: "logs.shop.>",
			servers: "nats://a:1 nats://b:4222 nats://[::1]:2 nats://[::1]:4222"},
		{url: "tls://a/logs", subject: "logs", servers: "tls://a:4222"},
		{url: "nats://shop:a%40b,c%2F@a,b/logs", subject: "logs", servers: "nats://a:4222 nats://b:4222",
			user: "shop", password: "a@b,c/"},
		{url: "nats://sesame%3A@a/logs", subject: "logs", servers: "nats://a:4222", token: "sesame:"},
	} {
		a, err := natssink.Parse(c.url)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		o := a.Options
		if got := strings.Join(o.Servers, " "); a.Subject != c.subject || got != c.servers || o.User != c.user ||
			o.Password != c.password || o.Token != c.token {
			t.Errorf("%s: subject %q, servers %s, user %q, password %q, token %q", c.url, a.Subject, got, o.User,
				o.Password, o.Token)
		}
	}
}

// Errors name the mistake and no secret.
func TestParseRejectsMistakes(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"http://a/logs":                         "begins with nats:// or tls://",
		"a/logs":                                "begins with nats:// or tls://",
		"nats://a":                              "no subject",
		"nats://a/":                             "no subject",
		"nats://a/logs..x":                      `"logs..x" is not a subject`,
		"nats://a/my logs":                      `"my logs" is not a subject`,
		"nats:///logs":                          `"" is not a host`,
		"nats://a,/logs":                        `"" is not a host`,
		"nats://a:x/logs":                       `"a:x" is not a host`,
		"nats://hunter2%zz@a/logs":              "write special characters as %40",
		"nats://a/logs?credentials=x":           `unknown parameter "credentials"`,
		"nats://a/logs?ca=x&ca=y":               "parameter ca twice",
		"nats://a/logs?%zz":                     "not a query",
		"nats://a/logs?creds=none":              "none has no credentials",
		"nats://a/logs?creds=" + empty:          empty + " has no credentials",
		"nats://a/logs?nkey=" + empty:           empty + " has no seed of an NKey",
		"tls://a/logs?ca=" + empty:              empty + " contains no certificate",
		"tls://a/logs?ca=none":                  "none: no such file",
		"tls://a/logs?cert=x":                   "cert and key belong together",
		"tls://a/logs?cert=none&key=none":       "none: no such file",
		"nats://hunter2:hunter2@a/logs?x=y":     "unknown parameter",
		"nats://hunter2:hunter2@a:x:y,b:z/logs": "is not a host",
	} {
		_, err := natssink.Parse(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

// New refuses a subject with a wildcard, and returns the error of an option.
func TestNewRejectsWildcardsAndBadOptions(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"nats://a/logs.>", "nats://a/*.logs"} {
		if _, err := natssink.New(url); err == nil || !strings.Contains(err.Error(), "wildcard") {
			t.Errorf("%s: %v, want an error about the wildcard", url, err)
		}
	}
	if _, err := natssink.New("nats://a/logs", nats.RootCAs("none")); err == nil {
		t.Error("no error for an option with a missing file")
	}
}
