package measure

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// fastest returns the index of the row with the lowest median among those that ok accepts, or -1.
func fastest(rows []Measured, ok func(Row) bool) int {
	best := -1
	for i, m := range rows {
		if !ok(m.Row) {
			continue
		}
		if best < 0 || m.Nanoseconds().Median() < rows[best].Nanoseconds().Median() {
			best = i
		}
	}
	return best
}

// peer reports whether r is a row of another project.
func peer(r Row) bool { return !r.Ours && !r.Bare }

// WriteTable writes the rows of a case with their ratio to the fastest peer. "~" marks a ratio whose difference is not
// significant. If the case has a floor, the table also has each row's difference to it in nanoseconds.
func WriteTable(w io.Writer, c Case, rows []Measured) error {
	fmt.Fprintf(w, "%s\n", c.Name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	best, floor := fastest(rows, peer), fastest(rows, func(r Row) bool { return r.Bare })
	aboveHead := ""
	if floor >= 0 {
		aboveHead = "above floor\t"
	}
	fmt.Fprintf(t, "ns/op\tspread\t%sB/op\tallocs/op\tto best peer\t\n", aboveHead)
	for i, m := range rows {
		ns := m.Nanoseconds()
		fmt.Fprintf(t, "%s\t%s\t%s%d\t%v\t%s\t  %s\n", digits(ns.Median()), ns.Spread(), above(rows, i, floor),
			m.Bytes(), m.Allocs(),
			ratio(rows, i, best), label(m.Row))
	}
	return EndTable(t, w)
}

// EndTable writes the table, and an empty line after it to w.
func EndTable(t *tabwriter.Writer, w io.Writer) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// above returns the cell with the difference of a row to the floor, if there is one.
func above(rows []Measured, i, floor int) string {
	switch {
	case floor < 0:
		return ""
	case i == floor:
		return "-\t"
	}
	return digits(rows[i].Nanoseconds().Median()-rows[floor].Nanoseconds().Median()) + "\t"
}

// digits formats v with at least three digits and without an exponent.
func digits(v float64) string {
	if math.Abs(v) < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func label(r Row) string {
	if r.Note == "" {
		return r.Name
	}
	return r.Name + " (" + r.Note + ")"
}

func ratio(rows []Measured, i, best int) string {
	switch {
	case best < 0:
		return ""
	case i == best:
		return "1.00"
	}
	return rows[i].Nanoseconds().RatioTo(rows[best].Nanoseconds())
}

// Judge compares ours, a row of Weir, to the fastest row of the peer theirs, or of all peers if theirs is empty. It
// returns false if the case lacks either.
func Judge(rows []Measured, ours, theirs string) (Verdict, bool) {
	mine := fastest(rows, func(r Row) bool { return r.Ours && r.Name == ours })
	best := fastest(rows, func(r Row) bool { return peer(r) && (theirs == "" || r.Name == theirs) })
	if mine < 0 || best < 0 {
		return Verdict{}, false
	}
	return Verdict{
		Ratio:        rows[mine].Nanoseconds().Median() / rows[best].Nanoseconds().Median(),
		Allocs:       rows[mine].Allocs(),
		Bytes:        float64(rows[mine].Bytes()),
		TargetRatio:  -1,
		TargetAllocs: -1,
		TargetBytes:  -1,
	}, true
}
