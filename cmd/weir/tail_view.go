package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/weirhq/weir/log/record"
)

// The forms in which events are written.
const (
	formHuman = "human"
	formJSON  = "json"
	formLTSV  = "ltsv"
	formRaw   = "raw"
)

// A view chooses from lines and writes them.
type view struct {
	worst      record.Severity // the least that is shown; SeverityNone for all
	where      *condition      // nil for all
	eventsOnly bool
	form       string
	human      record.HumanOptions
	escape     bool       // whether lines that are no events must not steer a terminal
	stats      *tailStats // counts events instead of writing them, unless nil
	headers    bool       // whether the name of an input comes before its lines

	out     *bufio.Writer
	buf     []byte
	midLine bool   // whether what was written last was no whole line
	from    *input // that is read
	shown   *input // that was written from last
}

func newView(out io.Writer) *view {
	return &view{out: bufio.NewWriterSize(out, 64<<10)}
}

// take takes what was read. Its lines are out when it returns: nobody knows
// when more will come.
func (v *view) take(p *part) error {
	v.from = p.from
	emit := v.emitter(p.from)
	if err := p.from.lines.Cut(p.data, emit); err != nil {
		return err
	}
	if p.end {
		if err := v.end(p.from, emit); err != nil {
			return err
		}
	}
	if p.err != nil {
		return p.err
	}
	return v.out.Flush()
}

// emitter returns the function that takes the lines of an input: lines may have
// to be held or left out first.
func (v *view) emitter(in *input) func(line []byte, whole bool) error {
	switch {
	case in.last != nil:
		return func(line []byte, whole bool) error {
			in.last.add(line, whole)
			return nil
		}
	case in.skipped > 0:
		return func(line []byte, whole bool) error {
			if in.skipped == 0 {
				return v.line(line, whole)
			}
			if bytes.HasSuffix(line, []byte("\n")) {
				in.skipped--
			}
			return nil
		}
	}
	return v.line
}

// end completes what was read last, as what follows does not continue it.
func (v *view) end(in *input, emit func([]byte, bool) error) error {
	if err := in.lines.End(emit); err != nil {
		return err
	}
	if in.last != nil {
		if err := in.last.each(v.line); err != nil {
			return err
		}
	}
	return v.endLine()
}

func (v *view) endLine() error {
	if !v.midLine {
		return nil
	}
	v.midLine = false
	return v.out.WriteByte('\n')
}

// line takes a line, or a piece of one that is too long to be an event.
func (v *view) line(line []byte, whole bool) error {
	if v.copies() {
		return v.write(line)
	}
	if !whole {
		return v.other(line)
	}
	r, err := record.Parse(line)
	if err != nil {
		return v.other(line)
	}
	if !v.wants(&r) {
		return nil
	}
	if v.stats != nil {
		v.stats.add(&r)
		return nil
	}
	return v.event(&r, line)
}

// copies reports whether nothing about a line matters.
func (v *view) copies() bool {
	return v.form == formRaw && !v.escape && v.worst == record.SeverityNone && v.where == nil && !v.eventsOnly && v.stats == nil
}

func (v *view) wants(r *record.Record) bool {
	severity := r.Severity
	if severity == record.SeverityNone {
		severity = record.SeverityInfo
	}
	if v.worst != record.SeverityNone && severity > v.worst {
		return false
	}
	return v.where == nil || v.where.holds(r)
}

func (v *view) event(r *record.Record, line []byte) error {
	switch v.form {
	case formHuman:
		v.buf = r.AppendHuman(v.buf[:0], v.human)
	case formJSON:
		v.buf = r.AppendJSON(v.buf[:0])
	case formLTSV:
		v.buf = r.AppendLTSV(v.buf[:0])
	default:
		if v.escape {
			return v.other(line)
		}
		return v.whole(line)
	}
	return v.write(v.buf)
}

// other passes on a line that is no event, or a piece of one.
func (v *view) other(line []byte) error {
	switch {
	case v.stats != nil:
		v.stats.other(line)
		return nil
	case v.eventsOnly:
		return nil
	case !v.escape:
		return v.write(line)
	}
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	v.buf = record.AppendPrintable(v.buf[:0], text)
	if ended {
		v.buf = append(v.buf, '\n')
	}
	return v.write(v.buf)
}

// whole writes a line, with a newline if it has none.
func (v *view) whole(line []byte) error {
	if err := v.write(line); err != nil {
		return err
	}
	return v.endLine()
}

func (v *view) write(line []byte) error {
	if v.from != v.shown {
		if err := v.turn(); err != nil {
			return err
		}
	}
	v.midLine = len(line) > 0 && line[len(line)-1] != '\n'
	_, err := v.out.Write(line)
	return err
}

// turn goes over to another input: what was written from the one before ends
// its line, and the new one is named as tail does.
func (v *view) turn() error {
	first := v.shown == nil
	v.shown = v.from
	if err := v.endLine(); err != nil || !v.headers {
		return err
	}
	if !first {
		v.out.WriteByte('\n') // an error sticks
	}
	_, err := fmt.Fprintf(v.out, "==> %s <==\n", record.AppendPrintable(nil, []byte(v.from.name)))
	return err
}

// ticks returns when to call tick: never, unless something is shown live.
func (v *view) ticks() (ticks <-chan time.Time, stop func()) {
	if v.stats == nil || !v.stats.live {
		return nil, func() {}
	}
	t := time.NewTicker(refreshEvery)
	return t.C, t.Stop
}

func (v *view) tick() error {
	v.stats.draw(v.out, time.Now())
	return v.out.Flush()
}

// finish writes what comes at the end.
func (v *view) finish() error {
	if v.stats != nil {
		if err := v.stats.finish(v.out); err != nil {
			return err
		}
	}
	return v.out.Flush()
}
