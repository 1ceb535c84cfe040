// Package alp_test checks that alp, a profiler of access logs that does not know Weir, reads an LTSV log of Weir and
// counts the requests correctly.
package alp_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A visit is a request that is sent a number of times.
type visit struct {
	method, target string
	times          int

	status, body int
	takes        time.Duration // minimum time of the server

	uri string // as printed by alp: the path without the query
}

// visits includes responses without a body: alp ignores lines without size, so Weir writes a size of 0.
var visits = []visit{
	{method: "GET", target: "/economy?page=2&filter=all", times: 7, status: 200, body: 48213, uri: "/economy"},
	{method: "GET", target: "/economy?page=3", times: 2, status: 200, body: 312, uri: "/economy"},
	{method: "GET", target: "/economy", times: 1, status: 503, body: 9, uri: "/economy"},
	{method: "POST", target: "/economy", times: 3, status: 201, body: 2, uri: "/economy"},
	{method: "GET", target: "/old?to=new", times: 2, status: 301, body: 5, uri: "/old"},
	{method: "DELETE", target: "/datasets/42", times: 1, status: 404, body: 1, uri: "/datasets/42"},
	{method: "GET", target: "/consumer%20prices/%E6%97%A5%E6%9C%AC/100%25", times: 2, status: 200, body: 77,
		uri: "/consumer%20prices/%E6%97%A5%E6%9C%AC/100%25"},
	{method: "DELETE", target: "/datasets/43", times: 4, status: 204, uri: "/datasets/43"},
	{method: "GET", target: "/economy/cached", times: 3, status: 304, uri: "/economy/cached"},
	{method: "GET", target: "/empty", times: 2, status: 200, uri: "/empty"},
	{method: "HEAD", target: "/economy", times: 2, status: 200, body: 312, uri: "/economy"},
	{method: "GET", target: "/report", times: 3, status: 200, body: 1000, takes: 20 * time.Millisecond, uri: "/report"},
}

// sent returns the number of body bytes in the response, which is 0 for HEAD.
func (v visit) sent() int {
	if v.method == "HEAD" {
		return 0
	}
	return v.body
}

// counts holds alp's figures for one method and uri: the number of requests, the number per status class, and the bytes
// of the responses.
type counts struct {
	requests, bytes, leastBytes, mostBytes int

	class [6]int // 1: 1xx, 2: 2xx ...
}

func TestAlpCountsWhatWasSent(t *testing.T) {
	for name, through := range map[string]func(*testing.T, func(site string)) (logFile string){
		"the front door":     throughDoor,
		"httplog.Middleware": throughMiddleware,
	} {
		t.Run(name, func(t *testing.T) {
			var elapsed time.Duration
			logFile := through(t, func(site string) { elapsed = sendAll(t, site) })
			compare(t, profile(t, logFile), elapsed)
		})
	}
}

// sendAll sends the requests one after the other, and returns the total time.
func sendAll(t *testing.T, site string) time.Duration {
	began := time.Now()
	for _, v := range visits {
		for range v.times {
			v.send(t, site)
		}
	}
	return time.Since(began)
}

// compare checks alp's figures against the requests that were sent.
func compare(t *testing.T, said []profiled, elapsed time.Duration) {
	got := map[string]counts{}
	for _, r := range said {
		got[r.key()] = r.counts(t)
		r.checkTimes(t, elapsed)
	}
	want := map[string]counts{}
	for _, v := range visits {
		v.addTo(want)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: alp counts %+v, want %+v", key, got[key], want[key])
		}
		delete(got, key)
	}
	for key, c := range got {
		t.Errorf("%s: alp counts %+v, and nothing was sent", key, c)
	}
}

func (v visit) addTo(all map[string]counts) {
	key := v.method + " " + v.uri
	c, known := all[key]
	if !known {
		c.leastBytes = v.sent()
	}
	c.requests += v.times
	c.class[v.status/100] += v.times
	c.bytes += v.times * v.sent()
	c.leastBytes, c.mostBytes = min(c.leastBytes, v.sent()), max(c.mostBytes, v.sent())
	all[key] = c
}

// send sends the request. Headers tell the site how to respond.
func (v visit) send(t *testing.T, site string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), v.method, site+v.target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Status", strconv.Itoa(v.status))
	req.Header.Set("Body", strconv.Itoa(v.body))
	req.Header.Set("Takes", v.takes.String())
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != v.status || len(body) != v.sent() {
		t.Fatalf("%s %s: got %d with %d bytes, %v; want %d with %d", v.method, v.target, res.StatusCode, len(body), err,
			v.status, v.sent())
	}
}

// respond responds as the headers say.
func respond(w http.ResponseWriter, r *http.Request) {
	status, _ := strconv.Atoi(r.Header.Get("Status"))
	body, _ := strconv.Atoi(r.Header.Get("Body"))
	takes, _ := time.ParseDuration(r.Header.Get("Takes"))
	for began := time.Now(); time.Since(began) < takes; {
	}
	w.WriteHeader(status)
	io.WriteString(w, strings.Repeat("x", body))
}

// profiled is a row of alp's table, by column.
type profiled map[string]any

// profile runs alp on the log.
func profile(t *testing.T, logFile string) []profiled {
	t.Helper()
	alp := exec.CommandContext(t.Context(), buildAlp(t), "ltsv", "--file", logFile, "--format", "json")
	out, err := alp.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", alp, err, out)
	}
	var table [][]any
	if err := json.Unmarshal(out, &table); err != nil || len(table) == 0 {
		t.Fatalf("alp printed no table of JSON: %v: %s", err, out)
	}
	var rows []profiled
	for _, line := range table[1:] {
		row := profiled{}
		for i, column := range table[0] {
			row[column.(string)] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func (r profiled) key() string { return r["method"].(string) + " " + r["uri"].(string) }

func (r profiled) number(t *testing.T, column string) float64 {
	n, ok := r[column].(float64)
	if !ok {
		t.Errorf("%s: %s is %v, want a number", r.key(), column, r[column])
	}
	return n
}

func (r profiled) counts(t *testing.T) counts {
	count := func(column string) int { return int(r.number(t, column)) }
	return counts{
		requests: count("count"), bytes: count("sum_body"), leastBytes: count("min_body"), mostBytes: count("max_body"),
		class: [6]int{1: count("1xx"), count("2xx"), count("3xx"), count("4xx"), count("5xx")},
	}
}

// checkTimes checks the times of one row, which alp rounds to milliseconds.
func (r profiled) checkTimes(t *testing.T, elapsed time.Duration) {
	var takes float64
	for _, v := range visits {
		if r.key() == v.method+" "+v.uri {
			takes = v.takes.Seconds()
		}
	}
	const rounding = 0.001
	least, most, sum, mean := r.number(t, "min"), r.number(t, "max"), r.number(t, "sum"), r.number(t, "avg")
	if least < takes-rounding || least > mean+rounding || mean > most+rounding || sum < most-rounding ||
		sum > elapsed.Seconds()+rounding {
		t.Errorf("%s: seconds from %v to %v, mean %v, sum %v: want at least %v for each, and %v at most together",
			r.key(), least, most, mean, sum, takes, elapsed)
	}
}
