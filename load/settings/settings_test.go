package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/settings"
	"github.com/weirhq/weir/load/target"
)

// TestFieldsHaveEachSettingOnce checks that the table has every setting once.
func TestFieldsHaveEachSettingOnce(t *testing.T) {
	var s settings.Settings
	seen := map[any]string{}
	for _, f := range s.Fields() {
		if other, twice := seen[f.Value]; twice {
			t.Errorf("%s and %s are one setting", f.Name, other)
		}
		seen[f.Value] = f.Name
	}
	fields := reflect.ValueOf(&s).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if _, ok := seen[fields.Field(i).Addr().Interface()]; ok == slices.Contains([]string{"Folder", "Find", "Stdin"}, name) {
			t.Errorf("%s is in the table: %v", name, ok)
		}
	}
}

func TestSetParsesValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		want  settings.Settings
	}{
		{"url", ":8080", settings.Settings{URL: ":8080"}},
		{"connections", "64", settings.Settings{Connections: 64}},
		{"connections", uint64(64), settings.Settings{Connections: 64}},
		{"requests", 1e6, settings.Settings{Requests: 1_000_000}},
		{"rate", 0.5, settings.Settings{Rate: 0.5}},
		{"rate", "1e3", settings.Settings{Rate: 1000}},
		{"rate", nil, settings.Settings{}},
		{"duration", "1m30s", settings.Settings{Duration: 90 * time.Second}},
		{"http2", true, settings.Settings{HTTP2: true}},
		{"http2", "false", settings.Settings{}},
		{"headers", []any{"A: b", "C: d"}, settings.Settings{Headers: []string{"A: b", "C: d"}}},
		{"headers", []string{"A: b"}, settings.Settings{Headers: []string{"A: b"}}},
		{"stages", "30s:10", settings.Settings{Stages: []string{"30s:10"}}},
		{"behind", uint64(100), settings.Settings{Behind: "100"}},
		{"path_growth", 0, settings.Settings{}},
		{"pid", -1, settings.Settings{PID: -1}},
		{"seed", "18446744073709551615", settings.Settings{Seed: 1<<64 - 1}},
	} {
		var s settings.Settings
		if err := s.Set(c.name, c.value); err != nil || !cmp.Equal(s, c.want) {
			t.Errorf("Set(%s, %#v): %v, %s", c.name, c.value, err, cmp.Diff(c.want, s))
		}
	}
}

func TestSetReportsMistakes(t *testing.T) {
	for _, c := range []struct {
		name       string
		value      any
		want, hint string
	}{
		{"conections", 5, "conections: there is no such setting", "it may be connections"},
		{"zzz", 5, "zzz: there is no such setting", "there are url, connections,"},
		{"connections", 0, "connections: 0 is not possible", "leave it out for the default: 64"},
		{"rate", "0", "rate: 0 is not possible", "leave it out for the default: the closed loop"},
		{"requests", 0, "requests: 0 is not possible", "leave it out"},
		{"timeout", "0s", "timeout: 0s is not possible", "leave it out for the default: 10s"},
		{"threads", -1, "threads: -1 is negative", ""},
		{"path_growth", -1, "path_growth: -1 is negative", ""},
		{"rate", "10k", `rate: "10k" is not a number`, "numbers are written out: 10000"},
		{"requests", "1.5M", `requests: "1.5M" is not a whole number`, "numbers are written out: 1500000"},
		{"requests", "1e6", `"1e6" is not a whole number`, "numbers are written out: 1000000"},
		{"requests", "10,000", `"10,000" is not a whole number`, "numbers are written out: 10000"},
		{"requests", "1.5", `"1.5" is not a whole number`, ""},
		{"requests", 1.5, `"1.5" is not a whole number`, ""},
		{"requests", "99999999999999999999", "requests: 99999999999999999999 is too large", ""},
		{"rate", "NaN", `rate: "NaN" is not a number`, ""},
		{"rate", "inf", `rate: "inf" is not a number`, ""},
		{"rate", []any{1}, "rate: [1] is not a number", ""},
		{"seed", "-1", `seed: "-1" is not a whole number from 1 on`, ""},
		{"duration", "30", `duration: "30" is not a time such as 500ms`, "a time has a unit: 30s"},
		{"duration", uint64(30), `duration: "30" is not a time such as 500ms`, "a time has a unit: 30s"},
		{"duration", `{"a": 1}`, `is not a time such as`, ""},
		{"http2", "yes", "http2: yes is neither true nor false", ""},
		{"url", true, "url: true is not a text", ""},
		{"headers", map[string]any{"a": "b"}, "headers: map[a:b] is not a text", ""},
	} {
		before := settings.Settings{Connections: 7, Rate: 7, Duration: 7}
		s := before
		err := s.Set(c.name, c.value)
		var wrong *settings.Error
		if !errors.As(err, &wrong) || wrong.Setting != c.name || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(wrong.Hint, c.hint) || c.hint == "" && wrong.Hint != "" {
			t.Errorf("Set(%s, %#v) = %#v, want %s, hint %s", c.name, c.value, err, c.want, c.hint)
		}
		if !cmp.Equal(s, before) {
			t.Errorf("Set(%s, %#v) has changed the settings", c.name, c.value)
		}
	}
}

// TestPlanHasTheSettings makes a plan of settings, and checks that others keep their defaults.
func TestPlanHasTheSettings(t *testing.T) {
	s := settings.Settings{
		URL: "host/x", Headers: []string{"A:  b "}, Body: "text", Connections: 3, HTTP2: true,
		Stages: []string{"1s:10", "2s:10-20"}, Poisson: true, Behind: "skip", Insecure: true, SNI: "name",
		PathGrowth: 1, PID: -1,
	}
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if p.TLS == nil || !p.TLS.InsecureSkipVerify || p.TLS.ServerName != "name" {
		t.Errorf("TLS is %+v", p.TLS)
	}
	if len(p.Targets) != 2 || p.Targets[1].URL != "http://host/x/0" ||
		p.Targets[1].Header[0] != (target.Header{Name: "A", Value: "b"}) {
		t.Errorf("the targets are %+v", p.Targets)
	}
	stages := []pace.Stage{{Duration: time.Second, From: 10, To: 10}, {Duration: 2 * time.Second, From: 10, To: 20}}
	if p.Connections != 3 || p.Protocol != load.HTTP2 || !p.Pace.Poisson || !slices.Equal(p.Pace.Stages, stages) ||
		p.Backlog != -1 || p.Process != -1 {
		t.Errorf("the plan is %+v", p)
	}
	if p.Timeout != 0 || p.Duration != 0 || p.Threads != 0 {
		t.Errorf("what nobody said is %+v", p)
	}
}

func TestPlanReportsMistakes(t *testing.T) {
	for _, c := range []struct {
		settings  settings.Settings
		want      string
		unchecked bool // Check does not see it: it needs the URL or a file
	}{
		{settings.Settings{}, "url: there is no URL", true},
		{settings.Settings{Rate: 1, Stages: []string{"1s:1"}}, "rate: the stages have a rate already", false},
		{settings.Settings{Stages: []string{"1:1"}}, `stages: stage "1:1": "1" is not a time`, false},
		{settings.Settings{Poisson: true}, "poisson: it is for the open loop", false},
		{settings.Settings{MaxConnections: 1}, "max_connections: it is for the open loop", false},
		{settings.Settings{Behind: "skip"}, "behind: it is for the open loop", false},
		{settings.Settings{Rate: 1, Behind: "0"}, `behind: "0" is not catch-up, skip or a number`, false},
		{settings.Settings{Pipeline: 2, NoKeepAlive: true}, "pipeline: it needs connections that stay", false},
		{settings.Settings{Key: "k"}, "key: it needs its certificate", false},
		{settings.Settings{Body: "a", Form: []string{"b=c"}}, "form: body and form are two bodies", false},
		{settings.Settings{Form: []string{"b"}}, "form: form field \"b\": there is no =", false},
		{settings.Settings{Headers: []string{"b"}}, `headers: there is no colon in "b"`, false},
		{settings.Settings{To: "http://a"}, "to: it is for the requests of a file", false},
		{settings.Settings{RequestsFile: "f", Method: "PUT"}, "requests_file: the file has the requests, and a method",
			false},
		{settings.Settings{RequestsFile: "missing.txt"}, "requests_file: open missing.txt", true},
		{settings.Settings{RequestsFile: "-"}, "requests_file: there is no stdin here", true},
		{settings.Settings{URL: "a", Body: "@-"}, "body: there is no stdin here", true},
		{settings.Settings{URL: "a", Body: "@missing.txt"}, "body: open missing.txt", true},
		{settings.Settings{URL: "a", CACert: "missing.pem"}, "cacert: open missing.pem", true},
		{settings.Settings{URL: "a", Cert: "missing.pem"}, "cert: open missing.pem", true},
	} {
		_, err := c.settings.Plan()
		var wrong *settings.Error
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.settings, err, c.want)
		}
		if err := c.settings.Check(); (err == nil) != c.unchecked {
			t.Errorf("Check of %+v: %v", c.settings, err)
		}
	}
}

// TestRelativeNamesAreBelowFolder checks that relative file names are below the folder.
func TestRelativeNamesAreBelowFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("body.txt", "a body")
	write("two.txt", "POST http://a.example/\n@body.txt\n")
	write("bad.pem", "no certificate")
	for _, c := range []struct {
		settings settings.Settings
		size     int64 // of the body, 0 for a text
		text     string
	}{
		{settings.Settings{URL: "a", Body: "@body.txt"}, 6, ""},
		{settings.Settings{URL: "a", Body: "@" + filepath.Join(dir, "body.txt")}, 6, ""},
		{settings.Settings{RequestsFile: "two.txt"}, 0, "a body"},
	} {
		c.settings.Folder = dir
		p, err := c.settings.Plan()
		if err != nil {
			t.Errorf("%+v: %v", c.settings, err)
		} else if b := p.Targets[0].Body; b.Size != c.size || b.Text != c.text {
			t.Errorf("%+v: the body is %+v", c.settings, b)
		} else if path, err := p.Find("lines"); err != nil || path != filepath.Join(dir, "lines") {
			t.Errorf("%+v: the file of a template is %q, %v", c.settings, path, err)
		}
	}
	write("flows.yaml", "flows: [{name: f, steps: [{name: a, request: GET /}]}]\n")
	flows := settings.Settings{URL: "a", Flows: "flows.yaml", Folder: dir}
	if p, err := flows.Plan(); err != nil || len(p.Flows.Steps()) != 1 || p.Targets[0].URL != "http://a" {
		t.Errorf("flows: %+v, %v", p.Flows, err)
	}
	s := settings.Settings{URL: "a", Form: []string{"f=@body.txt"}, Folder: dir}
	if p, err := s.Plan(); err != nil || p.Targets[0].Body.Size == 0 {
		t.Errorf("a form: %v", err)
	}
	s = settings.Settings{URL: "a", CACert: "bad.pem", Folder: dir}
	if _, err := s.Plan(); err == nil || err.Error() != "cacert: bad.pem has no certificate in PEM" {
		t.Errorf("a certificate: %v", err)
	}
}

// TestFindOpensEveryFile names files in all places and checks that each is found by Find. None is opened
// by its name.
func TestFindOpensEveryFile(t *testing.T) {
	root := certtest.Root(t, "client")
	cert, key := root.Issue(t, certtest.Options{}).Write(t, t.TempDir(), "client")
	kept := filepath.Join(t.TempDir(), "kept.png")
	if err := os.WriteFile(kept, []byte("GET http://a.example/{{line \"lines.txt\"}}\n@body.txt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"cert.pem": cert, "key.pem": key, "ca.pem": cert}
	for want, s := range map[string]settings.Settings{
		"-":                       {URL: "a", Body: "@-"},
		"body.bin":                {URL: "a", Body: "@body.bin"},
		"photo.png value.txt":     {URL: "a", Form: []string{"f=@photo.png", "v=<value.txt", "x=y"}},
		"requests.txt body.txt":   {RequestsFile: "requests.txt"},
		"ca.pem cert.pem key.pem": {URL: "a", CACert: "ca.pem", Cert: "cert.pem", Key: "key.pem"},
		"cert.pem cert.pem":       {URL: "a", Cert: "cert.pem"},
	} {
		var asked []string
		s.Find = func(name string) (string, error) {
			asked = append(asked, name)
			if place := places[name]; place != "" {
				return place, nil
			}
			return kept, nil
		}
		_, err := s.Plan()
		if got := strings.Join(asked, " "); got != want || err != nil && want != "cert.pem cert.pem" {
			t.Errorf("asked for %q, want %q; error %v", got, want, err)
		}
		s.Find = func(name string) (string, error) { return "", errors.New("not among the files: " + name) }
		if _, err := s.Plan(); err == nil || !strings.Contains(err.Error(), "not among the files: "+asked[0]) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// With To, only the requests of a HAR to the host of its first one are sent, unless AllHosts is set. A file of lines
// keeps all of its requests.
func TestHARIsSentToOneHost(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"page.har": `{"log": {"entries": [{"request": {"method": "GET", "url": "https://shop.example/"}},
			{"request": {"method": "GET", "url": "https://cdn.example/x.js"}},
			{"request": {"method": "POST", "url": "https://shop.example/form", "bodySize": 12}},
			{"request": {"method": "GET", "url": "https://shop.example/y"}}]}}`,
		"lines.txt": "http://shop.example/\nhttp://cdn.example/x.js\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const skips = "1 of the 4 requests in page.har cannot be sent and are skipped; the first: page.har:3:4: POST "
	const others = "1 of the 3 requests in page.har went to other hosts than the first one and are left out; --all-hosts "
	for _, c := range []struct {
		file     string
		all      bool
		urls     int
		warnings []string // their beginnings
	}{
		{"page.har", false, 2, []string{skips, others}},
		{"page.har", true, 3, []string{skips}},
		{"lines.txt", false, 2, nil},
	} {
		s := settings.Settings{RequestsFile: c.file, To: "http://127.0.0.1:1", AllHosts: c.all, Folder: dir}
		p, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Targets) != c.urls || len(p.Warnings) != len(c.warnings) {
			t.Errorf("%s, all hosts %v: %v, warnings %q", c.file, c.all, p.Targets, p.Warnings)
			continue
		}
		for i, want := range c.warnings {
			if !strings.HasPrefix(p.Warnings[i], want) {
				t.Errorf("%s, all hosts %v: got the warning %q, want %q", c.file, c.all, p.Warnings[i], want)
			}
		}
	}
}
