package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// FuzzReports writes all forms of any JSON document that is a result. They all
// end, keep to their format, and contain no control sequence of the document.
func FuzzReports(f *testing.F) {
	for _, name := range []string{"zero", "one", "refused"} {
		document, err := json.Marshal(results(f)[name])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document)
	}
	f.Add([]byte(`{"requests":1,"series":[{"start":1e308,"seconds":1e-308,"requests":9,"p50":1e308,"p99":1e-308,"max":-1}],"server":{"samples":[{"at":-1,"cpu":1e308},{"at":-5}]}}`))
	f.Add([]byte(`{"sent":-1,"requests":9223372036854775807,"status":{"":-1,"<b>":2},"latency":{"count":5,"max":1e308},"pacing":{"mean_10ms":1e-308,"lag":{"count":1}}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		var r load.Result
		if json.Unmarshal(document, &r) != nil {
			return
		}
		var text, page, rows, percentiles bytes.Buffer
		if err := report.Text(&text, &r, report.Style{Color: true}); err != nil {
			return // an invalid histogram
		}
		if c, bad := steering(text.String()); bad {
			t.Errorf("the text holds %q", c)
		}
		if err := report.HTML(&page, &r); err != nil {
			t.Error(err)
		}
		checkWellFormed(t, "page", page.Bytes())
		if err := report.CSV(&rows, &r); err != nil {
			t.Error(err)
		}
		if all, err := csv.NewReader(&rows).ReadAll(); err != nil || len(all) != len(r.Series)+1 {
			t.Errorf("%d rows for %d seconds, error %v", len(all), len(r.Series), err)
		}
		if err := report.HDR(&percentiles, &r); err == nil && percentiles.Len() == 0 {
			t.Error("no percentiles and no error")
		}
	})
}
