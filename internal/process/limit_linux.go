package process

import (
	"bytes"
	"fmt"
)

// FileLimit returns how many files the process may have open, 0 when there is
// no limit: the soft one, which it may raise itself.
func (p *Process) FileLimit() (int64, error) {
	text, err := p.readFile(p.dir, "limits")
	if err != nil {
		return 0, p.failed("read the limits of", err)
	}
	_, line, ok := bytes.Cut(text, []byte("\nMax open files"))
	if !ok {
		return 0, fmt.Errorf("read the limits of process %d: no line about open files", p.pid)
	}
	limit, _, _ := number(line) // "unlimited" is no number
	return limit, nil
}
