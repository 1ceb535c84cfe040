package front

import (
	"encoding/json"
	"net/http"
	"time"
)

// logPage is what /log of the admin listener shows.
type logPage struct {
	CPU          logCPUPage        `json:"cpu"`
	FileErrors   uint64            `json:"file_errors"`
	Destinations []destinationPage `json:"destinations"`
}

// logCPUPage is what the log costs: shares of the CPU time that the process
// used in the window, and sums since its start.
type logCPUPage struct {
	Share     float64 `json:"share"`
	Window    float64 `json:"window_seconds"`
	Encoding  float64 `json:"encoding_seconds"`
	Writing   float64 `json:"writing_seconds"`
	Measuring float64 `json:"measuring_seconds"`
	Process   float64 `json:"process_seconds"`
}

type destinationPage struct {
	To             string     `json:"to"`
	Emitted        uint64     `json:"emitted"`
	Written        uint64     `json:"written"`
	Waiting        uint64     `json:"waiting"`
	Dropped        []lossPage `json:"dropped"`
	Bytes          uint64     `json:"bytes"`
	QueueBytes     uint64     `json:"queue_bytes"`
	HighWaterBytes uint64     `json:"queue_high_water_bytes"`
	LongestWrite   float64    `json:"longest_write_seconds"`
	Diverted       uint64     `json:"diverted"`
	LastError      string     `json:"last_error,omitempty"`
}

type lossPage struct {
	Reason   string `json:"reason"`
	Severity string `json:"severity"`
	Events   uint64 `json:"events"`
}

// showLog answers with the state of the log, as JSON.
func (d *Door) showLog(w http.ResponseWriter, r *http.Request) {
	now := d.cost.read(time.Now())
	share, window := d.cost.share(now)
	page := logPage{CPU: logCPUPage{
		Share:     share,
		Window:    window.Seconds(),
		Encoding:  now.encoding.Seconds(),
		Writing:   now.writing.Seconds(),
		Measuring: now.measuring.Seconds(),
		Process:   now.process.Seconds(),
	}}
	if l, ok := d.out.(*Log); ok {
		page.FileErrors = l.fileErrors.Load()
		for _, dest := range l.Destinations() {
			page.Destinations = append(page.Destinations, pageOf(dest))
		}
	} else {
		page.Destinations = []destinationPage{pageOf(LogDestination{Stats: d.out.Stats()})}
	}
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.Encode(page)
}

func pageOf(d LogDestination) destinationPage {
	s := &d.Stats
	p := destinationPage{
		To:             d.To,
		Emitted:        s.Emitted,
		Written:        s.Written,
		Waiting:        s.Waiting,
		Dropped:        []lossPage{},
		Bytes:          s.Bytes,
		QueueBytes:     s.WaitingBytes,
		HighWaterBytes: s.HighWaterBytes,
		LongestWrite:   s.LongestWrite.Seconds(),
		Diverted:       d.Diverted,
	}
	for _, loss := range s.Dropped {
		p.Dropped = append(p.Dropped, lossPage{string(loss.Reason), loss.Level.String(), loss.Events})
	}
	if s.LastError != nil {
		p.LastError = s.LastError.Error()
	}
	return p
}
