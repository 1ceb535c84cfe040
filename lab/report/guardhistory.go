package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/weirhq/weir/lab/guard"
)

// GuardHistory writes the result of a guard as CSV, with a row of names before it
// if head is set: the answer, the values of the change and the base, and their
// ratios or, of shares, differences. Apache Otava reads a file of such rows.
func GuardHistory(w io.Writer, r *guard.Result, head bool) error {
	c := csv.NewWriter(w)
	row := []string{r.Started.UTC().Format(time.RFC3339), r.Commit, r.Base, string(r.Answer), strconv.Itoa(len(r.Blocks))}
	var conditions []guard.Condition
	for _, j := range r.Conditions {
		conditions = append(conditions, j.Condition)
		for _, v := range []float64{j.Change, j.Base, difference(j)} {
			row = append(row, fmt.Sprintf("%.6g", v))
		}
	}
	if head {
		c.Write(GuardHistoryColumns(conditions)) // Flush keeps the error
	}
	c.Write(row)
	c.Flush()
	return c.Error()
}

// difference returns the estimate as a ratio, or as a difference of shares.
func difference(j guard.Judged) float64 {
	if j.IsShare() {
		return j.Estimate
	}
	return math.Exp(j.Estimate)
}

// GuardHistoryColumns returns the names of the columns.
func GuardHistoryColumns(conditions []guard.Condition) []string {
	columns := []string{"time", "commit", "base", "answer", "blocks"}
	for _, c := range conditions {
		last := " ratio"
		if c.IsShare() {
			last = " difference"
		}
		columns = append(columns, c.Metric, c.Metric+" of the base", c.Metric+last)
	}
	return columns
}
