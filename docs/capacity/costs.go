package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// costs are measured figures by the name of their result line and their own name, as in
// "capacity_request cpu_us".
type costs map[string]float64

// readCosts reads the RESULT lines of the capacity comparison. It skips all other lines.
func readCosts(r io.Reader) (costs, error) {
	c := costs{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || words[0] != "RESULT" || !strings.HasPrefix(words[1], "capacity_") {
			continue
		}
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			figure, err := strconv.ParseFloat(value, 64)
			if err != nil || figure <= 0 {
				return nil, fmt.Errorf("%q is not a measured cost in %q", word, lines.Text())
			}
			c[words[1]+" "+name] = figure
		}
	}
	for _, name := range needed {
		if c[name] == 0 {
			line, figure, _ := strings.Cut(name, " ")
			return nil, fmt.Errorf("there is no line RESULT %s with %s=; make bench-capacity prints it", line, figure)
		}
	}
	return c, nil
}

// The figures that the plan needs.
const (
	noEvent         = "capacity_no_event cpu_us"
	oneEvent        = "capacity_request cpu_us"
	oneEventBytes   = "capacity_request log_bytes"
	threeEvents     = "capacity_three_events cpu_us"
	threeEventBytes = "capacity_three_events log_bytes"
	overTLS         = "capacity_tls cpu_us" // with one event
	handshake       = "capacity_handshake cpu_us"
	response16K     = "capacity_response_16k cpu_us" // with one event
	connection      = "capacity_idle connection_bytes"
	connectionTLS   = "capacity_idle_tls connection_bytes"
)

var needed = []string{noEvent, oneEvent, oneEventBytes, threeEvents, threeEventBytes, overTLS, handshake, response16K,
	connection, connectionTLS}
