package agent

import (
	"bytes"
	"encoding/json"
	"slices"
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

// TestUnreadableLatencies has one agent of two with a latency without a histogram. The progress does not show the
// buckets of the other one as those of all, and the agent is reported once.
func TestUnreadableLatencies(t *testing.T) {
	c := &coordinator{Coordinator: Coordinator{Agents: 2}, startAt: time.Now()}
	for i, l := range []load.Latency{{Count: 1, NeverAnswered: 1}, {Count: 1}} {
		s := load.Share{Number: i + 1, Of: 2}
		c.agents = append(c.agents, &remote{offer: offer{Name: string(rune('a' + i))}, heard: time.Now(),
			partial: &load.Result{Share: &load.ShareResult{Share: s}}, series: []load.Second{{Seconds: 1, Latency: &l}}})
	}
	first := c.merged()
	lines := slices.Clone(c.lines)
	second := c.merged()
	if first.Buckets != nil || second.Buckets != nil {
		t.Errorf("the buckets are %v and %v, want none", first.Buckets, second.Buckets)
	}
	if want := "agent b: load: the latency has no histogram"; !slices.Contains(lines, want) || !slices.Equal(c.lines, lines) {
		t.Errorf("the lines are %q and then %q, want %q, and the same", lines, c.lines, want)
	}
}
