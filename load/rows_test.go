package load_test

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/report"
)

func TestEachGetsEveryRequest(t *testing.T) {
	for _, c := range []struct {
		name string
		how  func(*httptest.Server)
		plan load.Plan
	}{
		{"HTTP/1.1", func(*httptest.Server) {}, load.Plan{Points: 10}},
		{"the open loop", func(*httptest.Server) {}, load.Plan{Pace: pace.Rate(2000)}},
		{"HTTP/2", func(s *httptest.Server) { s.EnableHTTP2 = true }, load.Plan{Protocol: load.HTTP2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCounter(t, faulty(), c.how)
			p := c.plan
			p.Targets, p.Connections, p.Requests, p.Threads = targets(s.URL+"/a?b"), 2, 1000, 2
			if s.TLS != nil {
				p.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
			}
			p.Expect = expectations(t, "status 200", "$.state == up")
			var out bytes.Buffer
			rows := report.NewRows(&out, p)
			p.Each = rows.Write
			r := run(t, p)
			if err := rows.Flush(); err != nil {
				t.Fatal(err)
			}
			if r.RowsDropped != 0 {
				t.Fatalf("%d rows were dropped", r.RowsDropped)
			}
			table, err := csv.NewReader(&out).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			failures := map[string]int64{}
			for _, row := range table[1:] {
				failures[row[7]]++
				latency, err := strconv.ParseFloat(row[3], 64)
				if err != nil || latency <= 0 || row[6] != "GET /a" || (row[2] == "") == p.Pace.Open() {
					t.Fatalf("got the row %q", row)
				}
				if want := map[string]string{"": "200 14", "unexpected status 503": "503 14", `$.state is "down"`: "200 16"}; want[row[7]] != row[4]+" "+row[5] {
					t.Fatalf("got the row %q", row)
				}
			}
			if len(table) != 1001 || failures[""] != r.Requests || failures["unexpected status 503"] != r.Errors["unexpected status 503"] {
				t.Errorf("%d rows with failures %v of a run with %d answered and errors %v", len(table)-1, failures, r.Requests, r.Errors)
			}
		})
	}
}
