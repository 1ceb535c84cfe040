package config_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/mistaketest"
)

func TestTracesAreParsed(t *testing.T) {
	for src, want := range map[string]config.Traces{
		"":                                       {Sample: 100},
		"traces: off\n":                          {Sample: 100},
		"traces: 'otlp+http://collector:4318'\n": {To: "otlp+http://collector:4318", Sample: 100},
		"traces: {to: 'otlp+https://user:secret@host/otlp?timeout=5s', sample: 0.5%}\n": {To: "otlp+https://user:secret@host/otlp?timeout=5s", Sample: 0.5},
		"traces: {to: 'otlp+http://collector:4318', sample: off}\n":                     {To: "otlp+http://collector:4318"},
	} {
		if got := parse(t, src+smallest, nil).Traces; got != want {
			t.Errorf("%s is %+v, want %+v", src, got, want)
		}
	}
}

func TestTraceMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"another scheme", "traces: 'http://user:secret@collector:4318/x'\n", []string{`1:9 the URL has no otlp+|write otlp+http://collector:4318/x`}},
		{"no scheme", "traces: collector:4318\n", []string{`1:9 "collector:4318" is not the URL of a server of OpenTelemetry|otlp+http://`}},
		{"NATS", "traces: {to: 'nats://server/spans'}\n", []string{`1:14 "nats://server/spans" is not the URL`}},
		{"no server", "traces: {sample: 1%}\n", []string{`1:1 "traces" has no "to"|name a server`}},
		{"shares", "traces: {to: 'otlp+http://a', sample: 5}\n", []string{`1:39 "5"|5%`}},
		{"a parameter", "traces: {to: 'otlp+http://a?header=x'}\n", []string{`1:14 otlp+http has no parameter "header"|headers`}},
	} {
		t.Run(c.name, func(t *testing.T) { mistaketest.Want(t, mistakes(t, c.src+smallest, nil), c.want) })
	}
}

// TestFilesOfTracesAreResolved checks that a file in the URL is relative to the folder of the configuration.
func TestFilesOfTracesAreResolved(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte("X-Key: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src := "traces: 'otlp+http://a?headers=token'\n" + smallest
	c, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "otlp+http://a?headers=" + url.QueryEscape(filepath.Join(folder, "token")); c.Traces.To != want {
		t.Errorf("the URL is %s, want %s", c.Traces.To, want)
	}
}
