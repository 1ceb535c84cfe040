package log

import (
	"io"

	"github.com/weirhq/weir/log"
)

// ltsvRows compare Weir's LTSV with phuslu's JSON, the fastest there is. The peer of its own kind would be
// github.com/hnakamur/ltsvlog/v3 v3.2.0, whose module has no checksum that could be verified; it was measured at 0.77
// of phuslu's three events, and three quarters of that are what Weir's are held to.
func ltsvRows() []row {
	rows := by([]contender{
		{name: Weir, note: "LTSV; its target is 0.75 of ltsvlog v3, which is not here and took 0.77 of phuslu's JSON", ours: true, open: openWeirLTSV},
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
