package where

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/record"
)

const whereEvent = `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n",` +
	`"event":"http request completed","severity":1,` +
	`"http":{"status_code":503,"method":"GET","path":"/a","duration":1500000000,"tries":2},` +
	`"data":{"rows":3,"share":0.5,"name":"weir","ok":true,"user":{"id":7,"tags":["a","b"]},` +
	`"none":null,"at":"2026-11-21T08:00:00+01:00"},` +
	`"errors":[{"message":"dial: refused","data":{"try":2}}],"version":"1.2"}`

func TestConditionReadsBothFormats(t *testing.T) {
	const ltsv = "time:2026-11-21T09:30:15.128000Z\tlevel:Error\tnamespace:n\tevent:http request completed" +
		"\tmethod:GET\turi:/a\tstatus:503\treqtime:1.500000\trows:3\tuser.id:7"
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
		{`severity in 0..1 and http.status_code in 500..599`, true, true},

		// Levels compare by severity.
		{`level >= "warn"`, true, true},
		{`level >= "error" and level <= "ERROR"`, true, true},
		{`level > "error"`, false, false},
		{`level < "fatal"`, true, true},
		{`"info" < level`, true, true},
		{`level == "Error"`, true, true},
		{`level in ["ERROR", "fatal"]`, true, true},
		{`level not in ["warn"]`, true, true},
		{`(level ?? "info") >= "warn"`, true, true},
		{`let l = level; l >= "warn" and l <= "error"`, true, true},
		{`level contains "err"`, true, true},

		// Instants compare as points in time, in every notation.
		{`created_at == "2026-11-21T10:30:15.128+01:00"`, true, true},
		{`created_at < "2026-11-21T09:30:15.1281Z"`, true, true},
		{`created_at > "2026-11-21T09:30:15Z"`, true, true},
		{`created_at >= "2026-11-21T09:30" && created_at < "2026-11-21T09:31"`, true, true},
		{`created_at >= "2026-11-21 09:30:15" && created_at < "2026-11-22"`, true, true},
		{`"2026-11-21T10:29+01:00" < created_at`, true, true},
		{`created_at > date("2026-11-21")`, true, true},
		{`created_at > date("2026-11-21T12:00:00+03:00")`, true, true},
		{`created_at > now() - 900000h`, true, true},
		{`created_at > now() + 900000h`, false, false},
		{`created_at > now() - duration("900000h")`, true, true},
		{`now() - created_at < 900000h`, true, true},
		{`created_at - 1h < "2026-11-21T08:30:16Z"`, true, true},
		{`created_at + duration("1h") > "2026-11-21T10:30:15Z"`, true, true},
		{`1h + created_at > "2026-11-21T10:30:15Z"`, true, true},
		{`created_at - date("2026-11-21T09:30:14Z") > 1s`, true, true},
		{`created_at startsWith "2026-11-21T09"`, true, true},
		{`data.at > date("2026-11-20")`, true, false},
		{`data.at < created_at`, true, false},
		{`created_at - data.at > 1h`, true, false},
		{`created_at - data.missing > 1h`, false, false},
		{`created_at * data.rows == nil and data.rows * created_at == nil`, true, true},
		{`created_at > data.missing`, false, false},
		{`created_at > data.name`, false, false},
		{`http.started_at < "2027-01-01"`, false, false},

		// Durations in every notation.
		{`http.duration > "1s"`, true, true},
		{`http.duration > "1500ms"`, false, false},
		{`http.duration > duration("1s")`, true, true},
		{`http.duration > duration("1s") + 400ms`, true, true},
		{`http.duration > 0`, true, true},
		{`http.duration * 2 > 2s and 2 * 1s < http.duration * 2`, true, true},
		{`http.duration / 1s > 1.4`, true, true},
		{`1s < http.duration < 2s`, true, true},
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
		{`"user" in data and "x" not in data`, true, true},
		{`3 in [data.rows, data.name - 1] or len(errors) == 0`, true, true},
		{`data.rows matches data.name`, false, false},
		{`data.ok`, true, false},
		{`data.ok and not data.bad`, true, false},
		{`any(errors, .message startsWith "dial")`, true, false},
		{`errors[0].data.try == 2`, true, false},
		{`len(errors) == 0`, false, true},
		{`extra.version == "1.2"`, true, false},
		{`extra.http.tries == 2`, true, false},
		{`data.name == "1s"`, false, false},
		{`data.name endsWith "ir"`, true, false},

		// A comparison with a missing value or with another type is false.
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
		cond, err := Compile(c.where)
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
			continue
		}
		for line, want := range map[string]bool{whereEvent: c.json, ltsv: c.ltsv} {
			r, err := record.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := cond.Holds(&r); got != want || err != nil {
				t.Errorf("%s on %.20s...: got %v, %v want %v", c.where, line, got, err, want)
			}
		}
	}
}

// TestExpressionsAreEvaluated evaluates expressions that do not depend on the event, but for
// its errors and its data.
func TestExpressionsAreEvaluated(t *testing.T) {
	r, err := record.Parse([]byte(whereEvent))
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, source := range []string{
		`all([1, 2], # > 0)`, `not all([1, 2], # > 1)`, `any([1, 2], # == 2)`, `none([1, 2], # == 3)`,
		`one([1, 2], # == 2)`,
		`count([1, 2, 3], # > 1) == 2`, `count([true, false]) == 1`, `filter([1, 2, 3], # > 1) == [2, 3]`,
		`map(errors, .message) == ["dial: refused"]`, `sum([1, 2.5]) == 3.5`, `sum(errors, .data.try) == 2`,
		`any(data.user.tags, {# == "b" and any([1], # == 1)})`, `any([[1], [2]], any(#, # == 2))`,
		`len("äö") == 2`, `len([1]) == 1`, `len(data.user) == 2`, `lower("Ä") == "ä"`, `upper("a") == "A"`,
		`trim(" a ") == "a"`,
		`trimPrefix("ab", "a") == "b"`, `trimSuffix("ab", "b") == "a"`, `indexOf("aba", "a") == 0`,
		`lastIndexOf("aba", "a") == 2`,
		`replace("aba", "a", "c") == "cbc"`, `split("a,b", ",") == ["a", "b"]`, `join(["a", "b"], "-") == "a-b"`,
		`join(["a", "b"]) == "ab"`,
		`string(1.5) == "1.5"`, `string(true) + "!" == "true!"`, `int("12") == 12`, `int(1.9) == 1`,
		`float("1.5") == 1.5`,
		`abs(-1) == 1`, `ceil(1.2) == 2`, `floor(1.8) == 1`, `round(1.5) == 2`, `min(1, 2) == 1`, `max(1, 2.5) == 2.5`,
		`now() > date("2020-01-01")`, `duration("1m") == 60s`, `date("2020-01-02") - date("2020-01-01") == 24h`,

		`64KiB == 65536 and 8MiB == 8 * 1024 * 1KiB and 1GiB > 1000B`,
		`0x1F == 31 and 0b11 == 3 and 0o17 == 15 and 1_000 == 1e3`,
		`2 ** 3 ** 2 == 512 and 7 % 4 == 3 and 7 / 2 == 3.5 and -2 ** 2 == -4 and 1 + 2 * 3 == 7`,
		`"\u00e4\x41\t'" == 'äA\t\'' and "a\"b" == 'a"b'`, "`a\\n` == \"a\\\\n\"",
		`(data.missing ? 1 : 2) == 2 and (data.missing ?: 3) == 3`, `(data.missing ?? 1) + 1 == 2`,
		`"ab" | upper() == "AB"`,
		`"abc"[1:] == "bc" and "abc"[:-1] == "ab" and [1, 2, 3][1:2] == [2]`, `data.user?.tags?.[0] == "a"`,
		`data.user["id"] == 7`,
		`2 in 1..3 and 4 not in 1..3 and 1.5 not in 1..2`, `"id" in data.user and "x" not in data.user`,
		`any(1..3, # == 3)`,
		`let x = 2; let y = x * 3; y == 6`, `"aXb" matches "x" == false and "aXb" matches "(?i)x"`,
		`1 < 2 < 3 and not (1 < 3 < 2)`,
	} {
		condition, err := Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if holds, err := condition.Holds(&r); !holds || err != nil {
			t.Errorf("%s: got %v, %v want true", source, holds, err)
		}
		for name := range functions {
			called[name] = called[name] || strings.Contains(source, name+"(")
		}
	}
	for name := range functions {
		if !called[name] {
			t.Errorf("no expression calls %s", name)
		}
	}
}

// TestHoldsAllocatesNothing evaluates conditions of the common kind.
func TestHoldsAllocatesNothing(t *testing.T) {
	r, err := record.Parse([]byte(whereEvent))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{
		`http.status_code >= 500 && http.duration > 1s`, `level >= "warn" or event contains "x"`, `data.rows > 3`,
		`created_at > now() - 1h`, `http.path startsWith "/a" and http.method == "GET"`, `data.missing == 5`,
	} {
		condition, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if allocs := testing.AllocsPerRun(100, func() { condition.Holds(&r) }); allocs > 0 {
			t.Errorf("%s: %v allocations per event want 0", source, allocs)
		}
	}
}

// TestFailedConditionNamesTheColumn subtracts a number from a text.
func TestFailedConditionNamesTheColumn(t *testing.T) {
	cond, err := Compile(`1s > 2s or data.name - 5 > 1`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Parse([]byte(whereEvent))
	if err != nil {
		t.Fatal(err)
	}
	const want = "column 22: a text - a number cannot be calculated\n1s > 2s or data.name - 5 > 1\n"
	if holds, err := cond.Holds(&r); holds || !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("got %v, %v want %s", holds, err, want)
	}
}

// TestSpanOfExtremeIntegersEnds makes lists whose bounds, or their difference, are at the limits of an int64.
func TestSpanOfExtremeIntegersEnds(t *testing.T) {
	const most, least = "9223372036854775807", "(-9223372036854775807 - 1)"
	r, err := record.Parse([]byte(whereEvent))
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]bool{
		`len(9223372036854775806..` + most + `) == 2`: true,
		`len(` + least + `..` + least + `) == 1`:      true,
		`len(` + most + `..` + least + `) == 0`:       true,
		`len(1..1_000_000) == 1_000_000`:              true,
		`len(0..1_000_000) > 0`:                       false, // too many
		`len(` + least + `..` + most + `) > 0`:        false,
	} {
		condition, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if holds, err := condition.Holds(&r); holds != want || (err == nil) != want {
			t.Errorf("%s: got %v, %v want %v", source, holds, err, want)
		}
	}
}

func TestConditionMistakesAreLocated(t *testing.T) {
	for where, want := range map[string]string{
		`htp.status_code > 5`:                "column 1: unknown name htp, did you mean http?",
		`http.duration > 1s && htp`:          "column 23: unknown name htp",
		`status_code > 5`:                    "column 1: unknown name status_code, did you mean http.status_code?",
		`nonsense > 5`:                       "column 1: unknown name nonsense\n",
		`http.status > 5`:                    "column 6: unknown name http.status, did you mean status_code?",
		`event == "x" and http["metod"]`:     "column 22: unknown name http.metod, did you mean method?",
		`auth.identify == "x"`:               "column 6: unknown name auth.identify, did you mean identity?",
		`errors.message contains "x"`:        "column 8: a list has no message",
		`event.name == "x"`:                  "column 7: a text has no members",
		`http.status_code >`:                 "column 18: the expression ends too early",
		`level = "warn"`:                     `column 7: unexpected "="`,
		`http.duration > 1x`:                 `column 18: unknown unit "x"`,
		`event matches "("`:                  "column 7: error parsing regexp",
		`"1s`:                                "column 1: a text without its closing quote",
		`1`:                                  "column 1: a number is neither true nor false",
		`event`:                              "column 1: a text is neither true nor false",
		`http.duration`:                      "column 6: a duration is neither true nor false",
		`created_at - 1h`:                    "column 12: an instant is neither true nor false",
		`data.rows + 1 > 2 and http`:         "column 23: an object is neither true nor false",
		`not severity`:                       "column 5: a number is neither true nor false",
		`level ? true : false`:               "column 1: a level is neither true nor false",
		`level >= "warning"`:                 `column 10: "warning" is not a level, did you mean warn?`,
		`level in ["info", "loud"]`:          `column 19: "loud" is not a level`,
		`severity <= "warn"`:                 "column 10: a number is compared with a text",
		`http.status_code == "500"`:          "column 18: a number is compared with a text",
		`http.status_code in ["500"]`:        "column 22: a number is compared with a text",
		`http.duration > "1"`:                `column 17: "1" is not a duration`,
		`http.duration > 100`:                "column 17: a number is compared with a duration",
		`created_at > "yesterday"`:           `column 14: "yesterday" is not an instant`,
		`created_at > 1h`:                    "column 12: an instant is compared with a duration",
		`created_at > now() - "1h"`:          "column 20: an instant - a text cannot be calculated",
		`created_at * 2 > now()`:             "column 12: an instant * a number cannot be calculated",
		`created_at > date("soon")`:          `column 14: date("soon") cannot be read`,
		`http.duration > duration("1 hour")`: `column 17: duration("1 hour") cannot be read`,
		`http.status_code contains "5"`:      "column 6: a number is not a text",
		`htp > 5 and`:                        "column 1: unknown name htp",
		`2 ^ 3 == 8`:                         `column 3: unexpected '^'`,
	} {
		_, err := Compile(where)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v want %s...", where, err, want)
		}
	}
}

// TestEmptyValuesAreValues compares fields that the format leaves out because they are 0 or "". They are
// values if the event has the object, and missing if not. An instant is never empty.
func TestEmptyValuesAreValues(t *testing.T) {
	for _, c := range []struct{ source, event string }{
		{"http.duration == 0", `"http":{"method":"GET"}`}, {"http.response_content_length < 1", `"http":{"method":"GET"}`},
		{"http.port == 0 and http.status_code == 0", `"http":{"method":"GET"}`},
		{`http.query == ""`, `"http":{"method":"GET"}`}, {`http.route != "/a"`, `"http":{"method":"GET"}`},
		{`http.user_agent in [""]`, `"http":{"method":"GET"}`}, {`http["query"] == ""`, `"http":{"method":"GET"}`},
		{`auth.identity == ""`, `"auth":{"identity_type":"user"}`},
		{"http.ended_at == nil", `"http":{"method":"GET"}`}, {"not (http.ended_at < now())", `"http":{"method":"GET"}`},
		{"http.duration == nil and http.query == nil", `"data":{}`}, {"http == nil and auth == nil", `"data":{}`},
		{"not (http.duration == 0) and not (http.duration != 0)", `"data":{}`},
		{"not (http.query == \"\") and not (http.query != \"\")", `"data":{}`},
		{"not (trace_id == \"\") and not (trace_id != \"\")", `"data":{}`},
		{`data.n == 0 and data.s == ""`, `"data":{"n":0,"s":""}`},
	} {
		r, err := record.Parse([]byte(`{"created_at":"2026-11-21T09:30:15Z","event":"e",` + c.event + `}`))
		if err != nil {
			t.Fatal(err)
		}
		condition, err := Compile(c.source)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := condition.Holds(&r); !got || err != nil {
			t.Errorf("%s of %s is %v, %v; want true", c.source, c.event, got, err)
		}
	}
}

// TestEachFieldIsRead checks that every member of http and auth is read.
func TestEachFieldIsRead(t *testing.T) {
	const full = `{"created_at":"2026-11-21T09:30:15Z","event":"e",` +
		`"auth":{"identity":"i","identity_type":"user"},` +
		`"http":{"status_code":1,"method":"a","scheme":"a","host":"a","port":1,"path":"a","query":"a",` +
		`"started_at":"2026-11-21T09:30:15Z","ended_at":"2026-11-21T09:30:15Z","duration":1,` +
		`"response_content_length":1,"route":"a","client":"a","protocol":"a",` +
		`"user_agent":"a","referer":"a","request_content_length":1}}`
	r, err := record.Parse([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string]string{
		"http": "client, duration, ended_at, host, method, path, port, protocol, query, referer, request_content_length, " +
			"response_content_length, route, scheme, started_at, status_code, user_agent",
		"auth": "identity, identity_type",
	} {
		members := eventFields[object].members
		if got := listed(members); got != want {
			t.Errorf("%s has %s; want %s", object, got, want)
		}
		for name, f := range members {
			if f.get(&r).is == kindMissing {
				t.Errorf("%s.%s is missing", object, name)
			}
			if got, _ := Compile(object + "." + name + " != nil"); got == nil || len(got.Members()) != 1 {
				t.Errorf("%s.%s: members %v", object, name, got.Members())
			}
		}
	}
}
