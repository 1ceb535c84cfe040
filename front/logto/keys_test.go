package logto_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/mistaketest"
)

// rest is a configuration without the log.
const rest = "upstreams: {a: {servers: [http://127.0.0.1:8080]}}\nroutes: [{match: /, to: a}]\n"

func TestLogSettingsAreParsed(t *testing.T) {
	for name, c := range map[string]struct {
		src    string
		adjust func(*logto.Config)
	}{
		"nothing":         {"", func(l *logto.Config) {}},
		"one destination": {"log: {to: stderr}\n", func(l *logto.Config) { l.To = []string{"stderr"} }},
		"several": {"log: {to: [stdout, ./a.log, /b.log]}\n",
			func(l *logto.Config) { l.To = []string{"stdout", "a.log", "/b.log"} }},
		"a server": {"log: {to: [otlp+https://a:b@collector:4318/x, 'otlp+http://[::1]']}\n", func(l *logto.Config) {
			l.To = []string{"otlp+https://a:b@collector:4318/x", "otlp+http://[::1]"}
		}},
		"servers of a cluster": {"log: {to: 'nats://a:b@one:4222,two,[::1]:4222/weir.log?creds=/etc/passwd&ca=/etc/passwd', format: auto}\n",
			func(l *logto.Config) {
				l.To, l.Format = []string{"nats://a:b@one:4222,two,[::1]:4222/weir.log?creds=/etc/passwd&ca=/etc/passwd"}, "auto"
			}},
		"a spill": {"log: {to: 'nats://s/x', spill: {folder: spill, size: 2GiB, age: off}}\n", func(l *logto.Config) {
			l.To, l.Spill = []string{"nats://s/x"}, logto.Spill{Folder: "spill", Size: 2 << 30}
		}},
		"a larger queue": {"log: {queue: {size: 64MiB}}\n", func(l *logto.Config) { l.Queue.Size = 64 << 20 }},
		"a small one":    {"log: {queue: {size: 16384B}}\n", func(l *logto.Config) { l.Queue.Size = 16 << 10 }},
		"a queue that drops": {"log: {queue: {when_full: drop, linger: 2ms}}\n", func(l *logto.Config) {
			l.Queue.WhenFull, l.Queue.Linger = "drop", 2*time.Millisecond
		}},
		"a queue that blocks": {"log: {queue: {when_full: block, wait: 50ms}}\n", func(l *logto.Config) {
			l.Queue.WhenFull, l.Queue.Wait = "block", 50*time.Millisecond
		}},
		"rotation": {"log: {to: a, rotate: {size: 1GiB, daily: true, keep: 7, gzip: true}}\n", func(l *logto.Config) {
			l.To, l.Rotate = []string{"a"}, logto.Rotate{Size: 1 << 30, Daily: true, Keep: 7, Gzip: true}
		}},
		"rotation by day alone": {"log: {to: a, rotate: {daily: true, keep: off}}\n", func(l *logto.Config) {
			l.To, l.Rotate = []string{"a"}, logto.Rotate{Daily: true}
		}},
		"fsync after each write": {"log: {to: a, fsync: each}\n",
			func(l *logto.Config) { l.To, l.Fsync = []string{"a"}, logto.FsyncEach }},
		"fsync now and then": {"log: {to: [stdout, a], fsync: 5s}\n",
			func(l *logto.Config) { l.To, l.Fsync = []string{"stdout", "a"}, 5*time.Second }},
		"fsync never":  {"log: {to: a, fsync: off}\n", func(l *logto.Config) { l.To = []string{"a"} }},
		"no heartbeat": {"log: {heartbeat: off}\n", func(l *logto.Config) { l.Heartbeat = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			want := logto.Default()
			c.adjust(&want)
			cfg, err := config.Parse("weir.yaml", []byte(c.src+rest), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, cfg.Log.Config); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
		})
	}
}

func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLogMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"no destination", "log: {to: []}\n", []string{`1:11 "to" is empty`}},
		{"a destination twice", "log: {to: [stdout, stdout]}\n", []string{`1:20 stdout is given twice`}},
		{"a file twice", "log: {to: [./a.log, a.log]}\n", []string{`1:21 a.log is given twice`}},
		{"a file by its whole path", "log: {to: [a.log, " + here(t) + "/a.log]}\n", []string{`1:19 a.log" is given twice|keep one`}},
		{"a misspelt destination", "log: {to: [stdout, stder]}\n", []string{`1:20 "stder"|did you mean "stderr"?|"./stder"`}},
		{"an unknown scheme", "log: {to: ['http://u:secret@collector', 'nat://s/x', 'kafka://x']}\n",
			[]string{`1:12 "http://" is not|did you mean "otlp+http://"?`, `1:41 "nat://"|did you mean "nats://"?`,
				`1:54 "kafka://"|one of nats://, otlp+http://, otlp+https://, tls://`}},
		{"URLs without slashes", "log: {to: ['nats:u:hunter2@a/x', 'otlp+http:/u:hunter2@a']}\n",
			[]string{`1:12 no // after nats:|write nats://server:4222/subject`, `1:34 no // after otlp+http:|write otlp+http://`}},
		{"a password that is not encoded", "log: {to: ['nats://u:p/hunter2@a/x', 'nats://u:p@/hunter2@a/x', " +
			"'nats://u:p@?hunter2@a/x', \"nats://u:hunter2\\x1b@a/x\", \"nats://u:p@a/x?creds=hunter2\\x1b\"]}\n",
			[]string{`1:12 not valid|%40`, `1:38 not valid|%40`, `1:65 not valid|%40`, `1:92 a control character`,
				`1:120 a control character`}},
		{"subjects and paths", "log: {to: ['nats://a/b..c', 'nats://a/b c', 'nats://a/b.>', 'nats://[::1/x', 'otlp+http://a/%zz']}\n",
			[]string{`1:12 "b..c" is not the subject|write nats://`, `1:29 "b c" is not`, `1:45 "b.>" is not`,
				`1:61 "[::1" is not a host`, `1:78 "/%zz" is not a path|write otlp+http://`}},
		{"a server twice", "log: {to: ['nats://a:secret@s/x', 'nats://b:secret@s/x', 'nats://b:secret@s/x']}\n",
			[]string{`1:35 "nats://s/x" is given twice`, `1:58 nats://s/x is given twice`}},
		{"URLs of servers", "log: {to: ['otlp+http://', 'otlp+http://a:70000', 'otlp+http://secret@a,b', 'tls://s/', " +
			"'nats://:secret%@a/x', 'nats://:secret#@a/x', 'nats://u:secret/?@a/x', 'otlp+http://a?x=secret']}\n",
			[]string{`1:12 "" is not a host|otlp+http://collector:4318`, `1:28 "a:70000" is not a host`,
				`1:51 "otlp+http://a,b" names more than one host`, `1:77 "tls://s/" has no subject|tls://server:4222/subject`,
				`1:89 not valid|%40`, `1:112 not valid|%23`, `1:135 not valid|%2F`, `1:160 otlp+http has no parameter "x"|it has`}},
		{"a scheme in short", "log: {to: ['otlp://collector:4317']}\n", []string{`1:12 "otlp://"|did you mean "otlp+http://"?`}},
		{"files of servers", "log: {to: ['otlp+http://a?headers=absent', 'otlp+https://b?cert=/etc/passwd', " +
			"'tls://s/x?creds=absent']}\n",
			[]string{`1:12 the parameter "headers": "absent": no such file|the folder of this file`,
				`1:44 cert and key belong together|?cert=`, `1:79 the parameter "creds": "absent": no such file`}},
		{"parameters of otlp", "log:\n  to:\n    - otlp+http://a?compresion=gzip\n    - otlp+http://b?compression=lz4\n" +
			"    - otlp+http://c?timeout=0s\n    - otlp+http://d?ca=x\n    - otlp+https://e?timeout=5s&timeout=6s\n",
			[]string{`3:7 no parameter "compresion"|did you mean "compression"?`, `4:7 "compression": "lz4"|one of gzip, zstd, none`,
				`5:7 "timeout": "0s"`, `6:7 no parameter "ca"|it has compression, headers, timeout`,
				`7:7 the parameter "timeout" is given twice`}},
		{"parameters of nats", "log: {to: ['nats://s/x?cred=a', 'tls://s/x?timeout=5s']}\n",
			[]string{`1:12 nats has no parameter "cred"|did you mean "creds"?`,
				`1:33 tls has no parameter "timeout"|it has creds, nkey, ca, cert, key`}},
		{"a format that servers do not know", "log: {to: 'nats://s/x', format: ltsv}\n",
			[]string{`1:33 "ltsv"|write json`}},
		{"a spill without a server", "log: {spill: {size: 1GiB, folder: /tmp}}\n", []string{`1:35 no server|log.to`}},
		{"a spill without a folder", "log: {to: 'nats://s/x', spill: {size: 1GiB}}\n", []string{`1:39 no folder|add folder`}},
		{"a spill that is a file", "log: {to: 'nats://s/x', spill: {folder: /etc/passwd}}\n",
			[]string{`1:41 "/etc/passwd" is a file|name a folder`}},
		{"a spill in a missing folder", "log: {to: 'nats://s/x', spill: {folder: /missing/spill}}\n",
			[]string{`1:41 "/missing/spill": no such|create the folder`}},
		{"sizes of a spill", "log: {to: 'nats://s/x', spill: {folder: /tmp, size: 1KiB, age: 7}}\n",
			[]string{`1:53 "1KiB"|1MiB or more`, `1:64 "7"|7s`}},
		{"an unknown key of the spill", "log: {to: 'nats://s/x', spill: {dir: /tmp}}\n",
			[]string{`1:33 "dir"|folder, size, age`}},
		{"rotation of a server", "log: {to: 'nats://s/x', rotate: {size: 1MiB}}\n", []string{`1:40 no file|log.to`}},
		{"an unknown key of the queue", "log: {queue: {bytes: 8MiB}}\n",
			[]string{`1:15 "bytes"|size, when_full, wait, linger`}},
		{"a queue that is a size", "log: {queue: 8MiB}\n", []string{`1:14 "queue" must be a mapping`}},
		{"bytes without a unit", "log: {queue: {size: 1048576}}\n", []string{`1:21 "1048576"|1048576B`}},
		{"a size without a unit", "log: {queue: {size: 8}}\n", []string{`1:21 "8"|8MiB`}},
		{"a size in another unit", "log: {queue: {size: 8MB}}\n", []string{`1:21 "8MB"|B, KiB, MiB or GiB`}},
		{"a size that is no number", "log: {queue: {size: MiB}}\n", []string{`1:21 "MiB"|8MiB`}},
		{"a size below zero", "log: {queue: {size: -1MiB}}\n", []string{`1:21 "-1MiB"|8MiB`}},
		{"a size beyond all", "log: {queue: {size: 9000000000GiB}}\n", []string{`1:21 "9000000000GiB"|8MiB`}},
		{"a queue too small", "log: {queue: {size: 1KiB}}\n", []string{`1:21 "1KiB"|16KiB`}},
		{"a policy", "log: {queue: {when_full: shred}}\n", []string{`1:26 "shred"|did you mean "shed"?`}},
		{"a policy that is unknown", "log: {queue: {when_full: explode}}\n", []string{`1:26 "explode"|shed, drop, block`}},
		{"a wait in vain", "log: {queue: {wait: 1s}}\n", []string{`1:21 only "block" waits|when_full: block`}},
		{"a wait without a unit", "log: {queue: {when_full: block, wait: 1}}\n", []string{`1:39 "1"|1s`}},
		{"a linger below zero", "log: {queue: {linger: -1ms}}\n", []string{`1:23 negative duration`}},
		{"rotation of no file", "log: {rotate: {size: 1MiB}}\n", []string{`1:22 no file|log.to`}},
		{"fsync of no file", "log: {to: [stdout, stderr], fsync: each}\n", []string{`1:36 no file|log.to`}},
		{"rotation at no time", "log: {to: a, rotate: {keep: 3, gzip: true}}\n",
			[]string{`1:29 nothing is rotated|size or daily`, `1:38 nothing is rotated`}},
		{"rotation with no keys", "log: {rotate: true}\n", []string{`1:15 nothing is rotated|size or daily`}},
		{"rotation of a file with no keys", "log: {to: a, rotate: {}}\n", []string{`1:22 nothing is rotated|size or daily`}},
		{"a spill with no keys", "log: {spill: true}\n", []string{`1:14 no folder|add folder`}},
		{"rotation of small files", "log: {to: a, rotate: {size: 1B}}\n", []string{`1:29 "1B"|100MiB`}},
		{"a count", "log: {to: a, rotate: {daily: true, keep: -1}}\n", []string{`1:42 "-1"|write off`}},
		{"a switch", "log: {to: a, rotate: {daily: yes}}\n", []string{`1:30 "yes"|write true`}},
		{"an unknown fsync", "log: {to: a, fsync: always}\n", []string{`1:21 "always"|each, off, or how often`}},
		{"an fsync without a unit", "log: {to: a, fsync: 5}\n", []string{`1:21 "5"|5s`}},
		{"an fsync at no distance", "log: {to: a, fsync: 0s}\n", []string{`1:21 "0s"|write off`}},
		{"a heartbeat without a unit", "log: {heartbeat: 10}\n", []string{`1:18 "10"|10s`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Parse("weir.yaml", []byte(c.src+rest), nil)
			mistaketest.Want(t, err, c.want)
			if strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), ":secret") {
				t.Errorf("a password in %v", err)
			}
		})
	}
}
