package report

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/load"
)

// Rows writes single requests as CSV, for load.Plan.Each. Its columns are when the request was sent (RFC 3339, and in
// seconds since the start), how long after its due time that was (empty in the closed loop), the latency from then to the
// last byte of the response or to the failure, the status (0 without a response), the bytes of the response's body, the
// method and path, and why it failed.
type Rows struct {
	out  *bufio.Writer
	open bool // the loop is open
	line []byte
	err  error // the first one
}

// NewRows returns a writer of the requests of a plan. It writes the header.
func NewRows(w io.Writer, p load.Plan) *Rows {
	r := &Rows{out: bufio.NewWriterSize(w, 64<<10), open: p.Pace.Open()}
	_, r.err = r.out.WriteString("time,sent_s,lag_us,latency_us,status,bytes,target,failure\n")
	return r
}

// Write writes rows. An error remains until Flush.
func (r *Rows) Write(started time.Time, rows []load.Row) {
	for i := range rows {
		if r.err == nil {
			_, r.err = r.out.Write(r.format(started, &rows[i]))
		}
	}
}

// format returns the line of a request, which is valid until the next call.
func (r *Rows) format(started time.Time, row *load.Row) []byte {
	b := started.Add(row.Sent).UTC().AppendFormat(r.line[:0], "2006-01-02T15:04:05.000000Z07:00")
	b = strconv.AppendFloat(append(b, ','), row.Sent.Seconds(), 'f', 6, 64)
	b = append(b, ',')
	if r.open {
		b = appendMicros(b, row.Sent-row.Due)
	}
	b = appendMicros(append(b, ','), row.Done-row.Sent)
	b = strconv.AppendInt(append(b, ','), int64(row.Status), 10)
	b = strconv.AppendInt(append(b, ','), row.Bytes, 10)
	b = append(b, ',')
	if row.Target != nil {
		b = appendText(b, *row.Target)
	}
	b = appendText(append(b, ','), row.Failure)
	r.line = append(b, '\n')
	return r.line
}

func appendMicros(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d)/1e3, 'f', 3, 64)
}

// appendText appends a field, in quotes if it needs them (RFC 4180).
func appendText(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// Flush writes the rest, and returns the first error.
func (r *Rows) Flush() error {
	if r.err == nil {
		r.err = r.out.Flush()
	}
	return r.err
}
