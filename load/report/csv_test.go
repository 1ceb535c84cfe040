package report_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

func TestCSVAddsUpToTheResult(t *testing.T) {
	for name, r := range results(t) {
		text := written(t, func(b *bytes.Buffer) error { return report.CSV(b, r) })
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := len(rows), len(r.Series)+1; got != want {
			t.Errorf("%s: %d rows, want %d", name, got, want)
		}
		var answers int64
		for _, row := range rows[1:] {
			n, err := strconv.ParseInt(row[4], 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			answers += n
		}
		var want int64
		for _, s := range r.Series {
			want += s.Requests
		}
		if answers != want {
			t.Errorf("%s: the column %q adds up to %d, want %d", name, rows[0][4], answers, want)
		}
	}
}

func TestCSVNamesTheStartOfLatencies(t *testing.T) {
	for _, c := range []struct {
		result, want string
	}{{"closed", ",p99_from_sent_us,"}, {"stalled", ",p99_from_due_us,"}} {
		text := string(written(t, func(b *bytes.Buffer) error { return report.CSV(b, results(t)[c.result]) }))
		if header, _, _ := strings.Cut(text, "\n"); !strings.Contains(header, c.want) {
			t.Errorf("%s: the header is %q, want %q in it", c.result, header, c.want)
		}
	}
}

func TestCSVSumsUpTheServer(t *testing.T) {
	r := &load.Result{
		Series: []load.Second{{Start: 0, Seconds: 1}, {Start: 1, Seconds: 1}, {Start: 2, Seconds: .25, P50: 1.23456}},
		Server: &load.ServerProcess{Samples: []load.ServerSample{{At: .5, CPU: 1, RSS: 7}, {At: 1, CPU: 2, RSS: 5},
			{At: 2.2, CPU: 1.5, RSS: 9}}},
	}
	got := string(written(t, func(b *bytes.Buffer) error { return report.CSV(b, r) }))
	want := "start_s,seconds,asked,sent,answered,errors,bytes_read,p50_from_sent_us,p90_from_sent_us,p99_from_sent_us,max_from_sent_us,connections,server_cpus,server_rss_bytes\n" +
		"0,1,0,0,0,0,0,0,0,0,0,0,1.5,7\n" +
		"1,1,0,0,0,0,0,0,0,0,0,0,,\n" +
		"2,0.25,0,0,0,0,0,1.235,0,0,0,0,1.5,9\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsReported(t *testing.T) {
	r := results(t)["one"]
	for name, err := range map[string]error{
		"Text": report.Text(fullDisk{}, r, report.Style{}),
		"HTML": report.HTML(fullDisk{}, r),
		"CSV":  report.CSV(fullDisk{}, r),
		"HDR":  report.HDR(fullDisk{}, r),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk: error %v, want %v", name, err, errFull)
		}
	}
}

func TestABrokenHistogramIsReported(t *testing.T) {
	r := &load.Result{Latency: &load.Latency{Count: 1, Histogram: "SGVsbG8gd29ybGQ="}}
	var b bytes.Buffer
	for name, err := range map[string]error{
		"Text": report.Text(&b, r, report.Style{}),
		"HTML": report.HTML(&b, r),
		"HDR":  report.HDR(&b, r),
	} {
		if err == nil || !strings.Contains(err.Error(), "latency from sent") {
			t.Errorf("%s: error %v, want one that names the latency from sent", name, err)
		}
	}
	if b.Len() > 0 {
		t.Errorf("%d bytes were written of results that cannot be shown, want none", b.Len())
	}
}
