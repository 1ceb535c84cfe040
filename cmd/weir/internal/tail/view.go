package tail

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/weirhq/weir/internal/where"
	"github.com/weirhq/weir/log/record"
)

// The forms in which events are written.
const (
	formHuman = "human"
	formJSON  = "json"
	formLTSV  = "ltsv"
	formRaw   = "raw"
)

// refreshEvery is the interval at which live statistics are drawn.
const refreshEvery = time.Second

// A view chooses events from lines, and writes them.
type view struct {
	leastBad   record.Severity  // the least severe level that is shown; SeverityNone for all
	where      *where.Condition // nil for all
	failed     int              // events for which where failed
	cause      error            // of the first of these failures
	eventsOnly bool
	form       string
	human      record.HumanOptions
	escape     bool    // whether control characters of other lines are escaped
	stats      *stats  // counts events instead of writing them, unless nil
	around     *around // finds events instead of writing them at once, unless nil
	headers    bool    // whether the name of an input precedes its lines

	report func(error) // takes the first error of an input

	chosen *record.Reader // reads the members that the choice depends on
	shown  *record.Reader // reads the members of a chosen event that are shown; nil if chosen reads them

	out     *bufio.Writer
	to      output // receives what out has buffered
	buf     []byte
	midLine bool   // whether the last output did not end with a newline
	from    *input // of the current part
	written *input // of the last output
}

func newView(out io.Writer) *view {
	v := &view{to: output{to: out}}
	v.out = bufio.NewWriterSize(&v.to, 64<<10)
	return v
}

// setReaders makes the readers, once the other fields are set.
func (v *view) setReaders() {
	var names []string
	switch {
	case v.stats != nil:
		names = statsMembers
	case v.form == formRaw:
		names = []string{"event"}
	}
	all := record.NewReader(names...)
	var choice []string
	if v.leastBad != record.SeverityNone {
		choice = append(choice, "severity")
	}
	if v.around != nil {
		choice = append(choice, aroundMembers...)
	}
	if v.where != nil {
		choice = append(choice, v.where.Members()...)
	}
	switch {
	case v.form == formRaw && v.stats == nil && len(choice) > 0:
		v.chosen = record.NewReader(choice...)
	case len(choice) > 0:
		v.chosen, v.shown = record.NewReader(choice...), all
	default:
		v.chosen = all
	}
}

// takeAll takes the parts until they or ctx end.
func (v *view) takeAll(ctx context.Context, parts <-chan *part) error {
	ticks, stop := v.ticks()
	defer stop()
	for {
		select {
		case p, ok := <-parts:
			if !ok {
				return nil
			}
			if err := v.take(p); err != nil {
				return err
			}
			close(p.taken)
		case <-ticks:
			if err := v.tick(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// take takes the result of a read, and writes the lines that it completes before
// it returns.
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
	if p.err != nil && !p.from.failed {
		p.from.failed = true
		if v.stats != nil {
			v.stats.erase(v.out) // so that the next table does not erase the error
		}
		defer v.report(p.err) // after the lines that were read before it
	}
	return v.out.Flush()
}

// emitter returns the function that takes the lines of an input. It holds lines
// back, skips them or shows them.
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

// end completes the last line of a file, which the next file does not continue.
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
	r, err := v.chosen.Parse(line)
	if err != nil {
		return v.other(line)
	}
	if v.around != nil {
		return v.around.take(r, line, v.from, v.shows)
	}
	if !v.shows(r) {
		return nil
	}
	if v.shown != nil {
		r, _ = v.shown.Parse(line) // which parsed above
	}
	if v.stats != nil {
		v.stats.add(r)
		return nil
	}
	return v.event(r, line)
}

// copies reports whether all lines are written unchanged.
func (v *view) copies() bool {
	chooses := v.leastBad != record.SeverityNone || v.where != nil || v.eventsOnly
	return v.form == formRaw && !v.escape && !chooses && v.stats == nil
}

// shows reports whether an event is shown.
func (v *view) shows(r *record.Record) bool {
	severity := r.Severity
	if severity == record.SeverityNone {
		severity = record.SeverityInfo
	}
	if v.leastBad != record.SeverityNone && severity > v.leastBad {
		return false
	}
	if v.where == nil {
		return true
	}
	holds, err := v.where.Holds(r)
	if err != nil {
		if v.failed++; v.cause == nil {
			v.cause = err
		}
	}
	return holds
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
			return v.escaped(line)
		}
		return v.whole(line)
	}
	return v.write(v.buf)
}

// other passes on a line that is not an event, or a piece of it.
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
	return v.escaped(line)
}

// escaped writes a line with its control characters escaped.
func (v *view) escaped(line []byte) error {
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
	if v.from != v.written {
		if err := v.switchInput(); err != nil {
			return err
		}
	}
	v.midLine = len(line) > 0 && line[len(line)-1] != '\n'
	_, err := v.out.Write(line)
	return err
}

// switchInput ends the last line of another input, and writes the name of the
// current one as tail does.
func (v *view) switchInput() error {
	first := v.written == nil
	v.written = v.from
	if err := v.endLine(); err != nil || !v.headers {
		return err
	}
	if !first {
		v.out.WriteByte('\n') // the next write returns its error
	}
	_, err := fmt.Fprintf(v.out, "==> %s <==\n", record.AppendPrintable(nil, []byte(v.from.name)))
	return err
}

// ticks returns a channel of the times at which to call tick. It is nil unless
// statistics are shown live.
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

// finish writes the statistics or the found events, if there are any, and flushes the output.
func (v *view) finish() error {
	if v.around != nil {
		if err := v.writeFound(); err != nil {
			return err
		}
	}
	if v.stats != nil {
		if err := v.stats.finish(v.out); err != nil {
			return err
		}
	}
	return v.out.Flush()
}

// writeFound writes the events of --around.
func (v *view) writeFound() error {
	reader := cmp.Or(v.shown, v.chosen)
	for _, f := range v.around.shown() {
		v.from = f.from
		r, _ := reader.Parse(f.line) // which parsed before
		if err := v.event(r, f.line); err != nil {
			return err
		}
	}
	return nil
}
