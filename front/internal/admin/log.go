package admin

import (
	"net/http"
	"time"

	"github.com/weirhq/weir/front/logto"
)

// logPage is the page /log of the admin listener.
type logPage struct {
	CPU          logCPUPage        `json:"cpu"`
	FileErrors   uint64            `json:"file_errors"`
	Destinations []destinationPage `json:"destinations"`
}

// logCPUPage is the cost of the log: its share of the CPU time that the process
// used in the window, and sums since the start of the process.
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
	Recovered      uint64     `json:"recovered"`
	DiskEvents     uint64     `json:"disk_events"`
	DiskBytes      int64      `json:"disk_bytes"`
	LongestWrite   float64    `json:"longest_write_seconds"`
	Diverted       uint64     `json:"diverted"`
	LastError      string     `json:"last_error,omitempty"`
}

type lossPage struct {
	Reason   string `json:"reason"`
	Severity string `json:"severity"`
	Events   uint64 `json:"events"`
}

// log responds with the state and the cost of the log as JSON.
func (p *Pages) log(w http.ResponseWriter, r *http.Request) { writeJSON(w, p.newLogPage()) }

func (p *Pages) newLogPage() logPage {
	now := p.Cost.Read(time.Now())
	share, window := p.Cost.Share(now)
	page := logPage{CPU: logCPUPage{
		Share:     share,
		Window:    window.Seconds(),
		Encoding:  now.Encoding.Seconds(),
		Writing:   now.Writing.Seconds(),
		Measuring: now.Measuring.Seconds(),
		Process:   now.Process.Seconds(),
	}}
	if l, ok := p.Log.(*logto.Log); ok {
		page.FileErrors, page.Destinations = l.FileErrors(), []destinationPage{}
		for _, dest := range l.Destinations() {
			page.Destinations = append(page.Destinations, pageOf(dest))
		}
	} else {
		page.Destinations = []destinationPage{pageOf(logto.Destination{Stats: p.Log.Stats()})}
	}
	return page
}

func pageOf(d logto.Destination) destinationPage {
	s := &d.Stats
	p := destinationPage{
		To:             d.To,
		Emitted:        s.Emitted,
		Written:        s.Written,
		Waiting:        s.Waiting,
		Dropped:        []lossPage{},
		Bytes:          s.Bytes,
		QueueBytes:     s.WaitingBytes,
		Recovered:      s.Recovered,
		DiskEvents:     d.OnDisk.Events,
		DiskBytes:      d.OnDisk.Bytes,
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
