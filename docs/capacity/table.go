package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// write prints the measured costs and the needs as tables in Markdown.
func write(w io.Writer, p plan, needs []need) error {
	c := p.costs
	var b strings.Builder
	fmt.Fprintf(&b, "| measured cost | |\n|---|---|\n")
	for _, row := range []struct {
		name   string
		figure string
	}{
		{"a request over plain HTTP without an event, CPU time", micros(c[noEvent])},
		{"with one event, to a file", micros(c[oneEvent])},
		{"with three events, to a file", micros(c[threeEvents])},
		{"over TLS 1.3, with one event", micros(c[overTLS])},
		{"a full handshake, ECDSA P-256 and X25519", micros(c[handshake])},
		{"each KiB of a response after the first", micros(max(0, c[response16K]-c[oneEvent]) / (bodyShare >> 10))},
		{"the log of a request with one event, with three", bytes(c[oneEventBytes]) + ", " + bytes(c[threeEventBytes])},
		{"an idle connection, memory; over TLS", bytes(c[connection]) + "; " + bytes(c[connectionTLS])},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row.name, row.figure)
	}
	b.WriteString("\n| requests per second |")
	for _, n := range needs {
		fmt.Fprintf(&b, " %s |", count(n.rate))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(needs)) + "\n")
	for _, row := range []struct {
		name   string
		figure func(need) string
	}{
		{"CPU time of a request", func(n need) string { return micros(n.cpu) }},
		{"busy processors", func(n need) string { return count(n.cores) }},
		{fmt.Sprintf("front doors with %d processors, of which %.0f%% are used, and spares", p.cores, 100*p.use),
			func(n need) string { return count(n.machines) }},
		{"connections of clients", func(n need) string { return count(n.connections) }},
		{"memory of the connections", func(n need) string { return bytes(n.memory) }},
		{"full handshakes per second", func(n need) string { return count(n.handshakes) }},
		{"network to the clients", func(n need) string { return bits(n.network) }},
		{"events per second", func(n need) string { return count(n.eventsPerSecond) }},
		{"log per second", func(n need) string { return bytes(n.logRate) }},
		{fmt.Sprintf("log of %d days", p.days), func(n need) string { return bytes(n.logKept) }},
		{"streams of JetStream", func(n need) string { return count(n.streams) }},
		{"calls per second for one shared bucket that is nearly empty", func(n need) string { return count(n.leaseCalls) }},
		{"machines, money per month", func(n need) string { return money(n.machineMoney) }},
		{"storage of the log, money per month", func(n need) string { return money(n.logMoney) }},
		{"money per million requests", func(n need) string {
			return fmt.Sprintf("%.4f", (n.machineMoney+n.logMoney)/(n.rate*hoursPerMonth*3600/1e6))
		}},
	} {
		fmt.Fprintf(&b, "| %s |", row.name)
		for _, n := range needs {
			fmt.Fprintf(&b, " %s |", row.figure(n))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func micros(v float64) string { return fmt.Sprintf("%.1f µs", v) }

// count returns a number with two significant digits or, below 100, as it is, with a word for its thousands.
func count(v float64) string { return scaled(v, "", " thousand", " million", " billion") }
func bytes(v float64) string { return scaled(v, " B", " kB", " MB", " GB", " TB", " PB") }
func bits(v float64) string  { return scaled(v, " bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s") }
func money(v float64) string { return scaled(v, "", " thousand", " million", " billion") }

func scaled(v float64, units ...string) string {
	i := 0
	for v >= 999.5 && i < len(units)-1 {
		v /= 1000
		i++
	}
	switch {
	case v >= 99.5 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f%s", v, units[i])
	case v >= 9.95:
		return fmt.Sprintf("%.3g%s", v, units[i])
	}
	return fmt.Sprintf("%.2g%s", v, units[i])
}
