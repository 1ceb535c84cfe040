package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// small is a result as load.Run returns it, without its histograms.
var small = &load.Result{
	Started: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC), URL: "http://127.0.0.1:20000/hello", Protocol: "HTTP/1.1",
	Asked: 2000, Sent: 2000, Requests: 2000, RequestsPerSecond: 1000, BytesPerSecond: 412e3, DurationSeconds: 2,
	Connections: 64, ConnectionsMade: 64, Pipeline: 1, Threads: 2,
	Latency: &load.Latency{Unit: "us", Count: 2000, Min: 90, P2_5: 120, P50: 310, P90: 480, P97_5: 940, P99: 1210,
		P999: 3300, Max: 4100, Mean: 344, Stdev: 160},
	Status: map[string]int64{"2xx": 2000}, StatusCodes: map[string]int64{"200": 2000},
	Series: []load.Second{
		{Start: 0, Seconds: 1, Asked: 990, Sent: 990, Requests: 990, Bytes: 407_880, P50: 312, P90: 490, P99: 1220,
			Max: 4100, Connections: 64},
		{Start: 1, Seconds: 1, Asked: 1010, Sent: 1010, Requests: 1010, Bytes: 416_120, P50: 309, P90: 477, P99: 1190,
			Max: 2900, Connections: 64},
	},
}

func ExampleText() {
	if err := report.Text(os.Stdout, small, report.Style{Width: 80}); err != nil {
		fmt.Println(err)
	}
	// Output:
	//   1,000 responses per second for 2 s. Half of them came within 310 us, 99%
	//   within 1.21 ms, the last after 4.10 ms, counted from when a request was sent.
	//   All 2,000 requests sent were answered, with 2xx.
	//
	//   to    http://127.0.0.1:20000/hello
	//   by    HTTP/1.1, 64 connections
	//   pace  closed loop: a connection sends when it has its response
	//   for   2 s from 2026-11-22 09:30:00 UTC, by 2 threads
	//
	//   Latency, us      2.5%      50%    97.5%      99%      avg    stdev      max
	//   from sent         120      310      940    1,210      344      160    4,100
	//
	//   Per second       2.5%      50%    97.5%      99%      avg    stdev      max
	//   responses         990      990    1,010    1,010    1,000     10.0    1,010
	//   read, kB          408      408      416      416      412     4.12      416
	//
	//   Requests       number    share
	//   asked           2,000     100%
	//   sent            2,000     100%  of those asked
	//   answered        2,000     100%  of those sent
	//   failed              0       0%  of those sent
	//   unanswered          0       0%  of those sent
	//
	//   Responses      number    share
	//   2xx             2,000     100%  200: 2,000
	//
	//   Over time    from 0 to the maximum, shown at the end
	//   responses/s  @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  1,010
	//   p50, sent    @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  312 us
	//   p99, sent    @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  1.22 ms
	//   max, sent    @@@@@@@@@@@@@@@@@@@@@@@@@@@***************************  4.10 ms
}

func ExampleCSV() {
	if err := report.CSV(os.Stdout, small); err != nil {
		fmt.Println(err)
	}
	// Output:
	// start_s,seconds,asked,sent,answered,errors,bytes_read,p50_from_sent_us,p90_from_sent_us,p99_from_sent_us,max_from_sent_us,connections,server_cpus,server_rss_bytes
	// 0,1,990,990,990,0,407880,312,490,1220,4100,64,,
	// 1,1,1010,1010,1010,0,416120,309,477,1190,2900,64,,
}

func ExamplePlain() {
	plain := report.NewPlain(os.Stdout)
	plain.Show(load.Progress{
		Elapsed: 2 * time.Second, Done: true, Requests: 2000, Status: map[string]int64{"2xx": 2000},
		Last: small.Series[1], Latency: small.Latency,
	})
	// Output:
	// done after 2 s: 2,000 responses, 1,000/s on average, no errors; from sent p50 310 us, p90 480 us, p99 1.21 ms, p99.9 3.30 ms, max 4.10 ms; 2xx 2,000
}
