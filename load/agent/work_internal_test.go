package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/settings"
)

// TestSettingsSurviveJSON sends settings through JSON. The plan of an agent has the same ones.
func TestSettingsSurviveJSON(t *testing.T) {
	s := settings.Settings{
		URL: "http://a.example/", Method: "PUT", Headers: []string{"A: b", "C: d,e"}, Body: "x", PathGrowth: 2,
		Connections: 5, MaxConnections: 50, Pipeline: 3, Threads: 2, Duration: 90 * time.Second, Timeout: time.Millisecond,
		Requests: 1 << 62, NoKeepAlive: true, Rate: 0.1, Poisson: true, Behind: "skip", Insecure: true, SNI: "b",
		PID: -1, Seed: 1<<64 - 1,
	}
	text, err := json.Marshal(work{Settings: texts(s)})
	if err != nil {
		t.Fatal(err)
	}
	var w work
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	var got settings.Settings
	for name, value := range w.Settings {
		if err := got.Set(name, value); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(s, got, cmpopts.IgnoreFields(settings.Settings{}, "Stdin", "Find")); diff != "" {
		t.Error(diff)
	}
}

// TestPlanOpensNoOtherFile has settings that name files which the coordinator did not send.
func TestPlanOpensNoOtherFile(t *testing.T) {
	for _, s := range []settings.Settings{
		{URL: "http://a/", Body: "@/etc/passwd"}, {RequestsFile: "/etc/passwd"}, {URL: "http://a/", Form: []string{"a=@/etc/passwd"}},
		{URL: "https://a/", CACert: "/etc/passwd"}, {URL: `http://a/{{line "/etc/passwd"}}`}, {URL: "http://a/", Body: "@-"},
	} {
		w := work{Settings: texts(s), Share: load.Share{Number: 1, Of: 1}}
		p, err := w.plan(nil)
		p.Seed, p.StartAt = 1, time.Now()
		if err == nil {
			err = p.Check()
		}
		if err == nil || !strings.Contains(err.Error(), "the coordinator did not send the file") {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, name := range []string{"..", "/", "a/..", "."} {
		if a, err := newArrival(t.TempDir(), 0, name); err == nil {
			t.Errorf("the file %q is %s", name, a.path)
		}
	}
}

// TestReceiverIgnoresRepeatedChunks sends chunks twice, which a lost response causes, and in a wrong order.
func TestReceiverIgnoresRepeatedChunks(t *testing.T) {
	var out bytes.Buffer
	r := receiver{out: &out}
	for _, c := range []struct {
		offset, data string
		last, fails  bool
	}{
		{"0", "abc", false, false}, {"0", "abc", false, false}, {"4", "x", false, true}, {"", "x", false, true},
		{"-1", "x", false, true}, {"3", "de", true, false}, {"3", "de", true, false},
	} {
		msg := &nats.Msg{Data: []byte(c.data), Header: nats.Header{headerOffset: {c.offset}}}
		if c.last {
			msg.Header.Set(headerLast, "1")
		}
		last, err := r.receive(msg)
		if last != c.last || (err != nil) != c.fails {
			t.Errorf("%q at %q: last %v, error %v", c.data, c.offset, last, err)
		}
	}
	if got := out.String(); got != "abcde" {
		t.Errorf("received %q", got)
	}
}

func TestSecretsOfPlansAreListed(t *testing.T) {
	s := settings.Settings{URL: "me:secret@a.example/", Headers: []string{"Accept: x", "authorization: y"}, Cert: "c.pem"}
	got := strings.Join(secrets(s), ", ")
	if want := "the user of the URL, the header authorization, the key of the client's certificate"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := secrets(settings.Settings{URL: ":8080", Headers: []string{"Accept: x"}}); got != nil {
		t.Errorf("a plan without secrets has %v", got)
	}
}
