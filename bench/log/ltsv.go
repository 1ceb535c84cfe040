package log

import (
	"io"

	"github.com/weirhq/weir/log"
)

// ltsvRows compares Weir's LTSV with phuslu's JSON, the fastest. A better peer would be github.com/hnakamur/ltsvlog/v3
// v3.2.0, but the checksum of its module cannot be verified. It was measured at 0.77 of phuslu's time for the three
// events; the target of Weir is three quarters of that.
func ltsvRows() []row {
	rows := by([]contender{
		{name: Weir, note: "LTSV; its target is 0.75 of ltsvlog v3, which is not compared and took 0.77 of phuslu's JSON",
			ours: true, open: openWeirLTSV},
		byPhusluMillis,
		byPhuslu,
	}, threeEvents)
	for i := range rows[1:] {
		rows[i+1].note = "JSON, " + rows[i+1].note
	}
	return append(rows, floorOf(rows[0])) // LTSV is shorter than the JSON of the peers
}

func openWeirLTSV(w io.Writer) logger {
	l := log.New(w, log.Options{Namespace: namespace, Format: log.FormatLTSV})
	return logger{threeEvents: func(r *request) { weirThree(l, r) }}
}
