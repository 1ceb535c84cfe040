package onslog_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	dprequest "github.com/ONSdigital/dp-net/v3/request"
)

// An input is one event, independent of the packages.
type input struct {
	ctx            context.Context
	event          string
	severity       int
	http           *httpInput
	auth           *authInput
	data           map[string]any
	hasData        bool
	errs           []error
	hasErrs        bool
	classification string
}

type httpInput struct {
	req        *http.Request
	status     int
	length     int64
	start, end *time.Time
}

type authInput struct {
	user     bool
	identity string
}

func (g generator) input() input {
	in := input{event: g.text(), severity: g.IntN(4), ctx: g.context()}
	if g.chance(50) {
		in.http = g.http()
	}
	if g.chance(30) {
		in.auth = &authInput{g.chance(50), g.text()}
	}
	if g.chance(70) {
		in.hasData = true
		if g.chance(95) {
			in.data = g.object(0)
		}
	}
	if g.chance(30) {
		in.hasErrs = true
		for range g.IntN(4) {
			in.errs = append(in.errs, g.error())
		}
	}
	if g.chance(20) {
		in.classification = g.text()
	}
	return in
}

func (g generator) http() *httpInput {
	u := &url.URL{Scheme: pick(g, []string{"", "http", "https"}), Host: pick(g, []string{
		"", "www.example.org", "www.example.org:20000", "[::1]:80", "host:", "host:port",
		"host:99999999999999999999", "<b>:0",
	}), Path: g.text(), RawQuery: g.text()}
	h := &httpInput{
		req:    &http.Request{Method: pick(g, []string{"", "GET", g.text()}), URL: u, Header: http.Header{}},
		status: pick(g, []int{0, 200, 404, -1}),
		length: pick(g, []int64{0, 48213, -1}),
	}
	if g.chance(60) {
		t := g.time()
		h.start = &t
	}
	if g.chance(60) {
		t := g.time()
		h.end = &t
	}
	return h
}

type plainKey struct{}

// stringKey is the second of the context keys that the original reads.
var stringKey any = "request-id"

// context returns a context with a request id under one of the original's keys, with one under another key, or without
// one.
func (g generator) context() context.Context {
	ctx := context.Background()
	switch g.IntN(8) {
	case 0:
		return nil
	case 1:
		ctx = dprequest.WithRequestId(ctx, g.text())
	case 2:
		ctx = context.WithValue(ctx, dprequest.RequestIdKey, g.scalar())
	case 3:
		ctx = context.WithValue(ctx, stringKey, g.scalar())
	case 4:
		ctx = context.WithValue(ctx, dprequest.UserIdentityKey, "someone")
	case 5:
		ctx = context.WithValue(dprequest.WithRequestId(ctx, ""), stringKey, "other")
	}
	if g.chance(50) {
		ctx = context.WithValue(ctx, plainKey{}, "x")
	}
	return ctx
}

// The parts of the output that differ between calls, and those that the packages may write differently.
var variable = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`^\{"created_at":"[^"]*"`), `{"created_at":"NOW"`},
	{regexp.MustCompile(`"created_at"(\x1b\[0;22m)?: (\x1b\[32;1m)?"[^"]*"`), `"created_at": "NOW"`},
	{regexp.MustCompile(`CreatedAt:[-0-9]+ [0-9:.]+ \+0000 UTC`), `CreatedAt:NOW`},
	{regexp.MustCompile(`0x[0-9a-f]{6,}`), `0xADDRESS`},
	{regexp.MustCompile(`\{"file":"[^"]*","line":\d+,"function":"[^"]*"\}(,\{"file":"[^"]*","line":\d+,"function":"[^"]*"\})*`), `FRAMES`},
	{regexp.MustCompile(`(?s)"stack_trace"(?:\x1b\[0;22m)?: \[.*?\n +\]`), `"stack_trace": FRAMES`},
}

func normalise(line string) string {
	for _, v := range variable {
		line = v.pattern.ReplaceAllLiteralString(line, v.is)
	}
	return line
}

// compare calls both functions and checks that their outputs are the same.
func compare(t *testing.T, name string, in input, original, ours func(input) string) {
	t.Helper()
	want, got := normalise(original(in)), normalise(ours(in))
	if got == want {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-60)
	t.Errorf("%s: from byte %d on\n got %q\nwant %q\nof event %+v", name, i, head(got[from:]), head(want[from:]), in)
}

func head(s string) string {
	if len(s) > 400 {
		s = s[:400] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// outcome returns the output of call and the value of its panic.
func outcome(written func() string, call func()) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = written() + "panic"
		}
	}()
	call()
	return written()
}
