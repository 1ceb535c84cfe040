package main

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/log/record"
)

const whereEvent = `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"http request completed","severity":1,` +
	`"http":{"status_code":503,"method":"GET","path":"/a","duration":1500000000},` +
	`"data":{"rows":3,"share":0.5,"name":"weir","ok":true,"user":{"id":7,"tags":["a","b"]},"none":null},` +
	`"errors":[{"message":"dial: refused","data":{"try":2}}],"version":"1.2"}`

func TestCondition(t *testing.T) {
	const ltsv = "time:2026-11-21T09:30:15.128000Z\tlevel:Error\tnamespace:n\tevent:http request completed\tmethod:GET\turi:/a\tstatus:503\treqtime:1.500000\trows:3\tuser.id:7"
	for _, c := range []struct {
		where      string
		json, ltsv bool
	}{
		{`http.status_code >= 500 && http.duration > 1s`, true, true},
		{`http.duration > 1500ms`, false, false},
		{`http.duration >= 1.5s and http.duration < 1m30s`, true, true},
		{`http.duration > 1s500ms - 1ns`, true, true},
		{`http.duration / 2 > 700ms`, true, true},
		{`level == "error"`, true, true},
		{`severity <= 1`, true, true},
		{`event contains "completed" and namespace == 'n'`, true, true},
		{`event matches "^http .* completed$"`, true, true},
		{`http.method in ["GET", "HEAD"]`, true, true},
		{`http.status_code in [500, 503]`, true, true},
		{`data.rows == 3`, true, true},
		{`data.rows == 3.0`, true, true},
		{`data.rows + 1 == 4`, true, true},
		{`data.share < 1`, true, false},
		{`data.user.id == 7`, true, true},
		{`data["user"]["id"] == 7`, true, true},
		{`data.user.tags[1] == "b"`, true, false},
		{`data.user.tags[-1] == "b"`, true, false},
		{`data.ok`, true, false},
		{`data.ok and not data.bad`, true, false},
		{`any(errors, .message startsWith "dial")`, true, false},
		{`errors[0].data.try == 2`, true, false},
		{`len(errors) == 0`, false, true},
		{`extra.version == "1.2"`, true, false},
		{`data.name == "1s"`, false, false},
		{`data.name endsWith "ir"`, true, false},

		// What is missing, or of another type, compares false.
		{`data.missing > 5`, false, false},
		{`data.missing < 5`, false, false},
		{`data.missing == 5`, false, false},
		{`data.missing != 5`, false, false},
		{`data.missing.deeper.still == 5`, false, false},
		{`data.missing + 5 > 1`, false, false},
		{`data.missing matches "."`, false, false},
		{`data.missing contains ""`, false, false},
		{`data.missing in ["a"]`, false, false},
		{`data.none == 5`, false, false},
		{`not (data.missing > 5)`, true, true},
		{`data.missing > 5 || data.rows == 3`, true, true},
		{`data.missing || data.rows == 3`, true, true},
		{`data.missing == nil`, true, true},
		{`data.rows != nil`, true, true},
		{`(data.missing ?? 3) == 3`, true, true},
		{`auth.identity == "x"`, false, false},
		{`data.name > 5`, false, false},
		{`data.name != 5`, true, false},
		{`data.user > 5`, false, false},
		{`data.user.tags[7] == "b"`, false, false},
		{`data.rows ? true : false`, false, false},
		{`data.rows`, false, false},
		{`trace_id == "x"`, false, false},
	} {
		cond, err := compileCondition(c.where)
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
			continue
		}
		for line, want := range map[string]bool{whereEvent: c.json, ltsv: c.ltsv} {
			r, err := record.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if got := cond.holds(&r); got != want || cond.failed > 0 {
				t.Errorf("%s on %.20s...: got %v want %v (%v)", c.where, line, got, want, cond.cause)
			}
		}
	}
}

// TestConditionFails adds what cannot be added.
func TestConditionFails(t *testing.T) {
	cond, err := compileCondition(`data.name - 5 > 1`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Parse([]byte(whereEvent))
	if err != nil {
		t.Fatal(err)
	}
	if cond.holds(&r) || cond.failed != 1 || cond.cause == nil {
		t.Errorf("failed %d times: %v; want once", cond.failed, cond.cause)
	}
}

func TestConditionMistakes(t *testing.T) {
	for where, want := range map[string]string{
		`htp.status_code > 5`:       "--where: column 1: unknown name htp",
		`http.duration > 1s && htp`: "--where: column 23: unknown name htp",
		`http.status_code >`:        "--where: column 18: unexpected token EOF",
		`http.duration > 1x`:        "--where: column 18: ",
		`event matches "("`:         "--where: column 7: error parsing regexp",
		`1`:                         "--where: ",
		`"1s`:                       "--where: column ",
	} {
		_, err := compileCondition(where)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v want %s...", where, err, want)
		}
	}
}

func FuzzReplaceDurations(f *testing.F) {
	for _, seed := range []string{`http.duration > 1s`, `"1s" + '2ms' + 3h`, "`\\` 1m30s", `a1s 1.5s 1s5 .5s 1..2`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		replaced, durations := replaceDurations(source)
		if got, want := len([]rune(replaced)), len([]rune(source)); got != want {
			t.Errorf("%q became %q: %d characters want %d", source, replaced, got, want)
		}
		if len(durations) == 0 && replaced != source {
			t.Errorf("%q became %q without a duration", source, replaced)
		}
	})
}
