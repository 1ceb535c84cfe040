package labcmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/lab/guard"
	"github.com/weirhq/weir/lab/report"
)

// A history is the file of --history, to which each guard appends a row. The zero
// history writes none.
type history struct {
	file *os.File
	head bool // it is empty
}

// openHistory opens the file, and checks that it has the columns of the
// conditions.
func openHistory(name string, conditions []guard.Condition) (history, error) {
	if name == "" {
		return history{}, nil
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return history{}, cli.Misuse(fmt.Errorf("--history: %w", err), "name a file in a writable directory")
	}
	columns, err := csv.NewReader(file).Read()
	switch {
	case errors.Is(err, io.EOF):
		return history{file, true}, nil
	case err == nil && slices.Equal(columns, report.GuardHistoryColumns(conditions)):
		return history{file, false}, nil
	}
	file.Close()
	return history{}, cli.Misuse(fmt.Errorf("--history: %s has other columns than the conditions of --fail", name),
		"name another file, or repeat the conditions")
}

// add appends a result, unless there is nothing to append: no block was made.
func (h history) add(r *guard.Result) error {
	if h.file == nil || len(r.Blocks) == 0 {
		return nil
	}
	return report.GuardHistory(h.file, r, h.head)
}

func (h history) close() {
	if h.file != nil {
		h.file.Close()
	}
}
