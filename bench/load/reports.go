package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// in converts n units to a duration. Negative values mean that the figure is missing and are kept.
func in(unit time.Duration, n float64) time.Duration {
	if n < 0 {
		return -1
	}
	return time.Duration(n * float64(unit))
}

func parse(output []byte, into any) error {
	if err := json.Unmarshal(output, into); err != nil {
		return fmt.Errorf("its output is not JSON: %w: %.300q", err, output)
	}
	return nil
}

func readWeir(_ context.Context, _ call, output []byte) (Report, error) {
	type latency struct{ P50, P99, P999, Max float64 }
	var r struct {
		Failed     int64
		Unanswered int64
		Errors     map[string]int64
		Latency    *latency
		FromDue    *latency `json:"latency_from_due"`
		Pacing     *struct {
			Lag      latency
			Variance float64 `json:"variance_10ms"`
		}
	}
	if err := parse(output, &r); err != nil {
		return Report{}, err
	}
	report := silent()
	report.Failed = r.Unanswered
	for _, n := range r.Errors {
		report.Failed += n
	}
	report.Failed = max(report.Failed, r.Failed)
	if r.FromDue != nil {
		r.Latency = r.FromDue
	}
	if l := r.Latency; l != nil {
		us := time.Microsecond
		report.P50, report.P99, report.P999, report.Max = in(us, l.P50), in(us, l.P99), in(us, l.P999), in(us, l.Max)
	}
	if r.Pacing != nil {
		report.Lag99, report.Variance = in(time.Microsecond, r.Pacing.Lag.P99), r.Pacing.Variance
	}
	return report, nil
}

// number returns the sum of the numbers that the groups of the expression match, or 0 without a match.
func number(e *regexp.Regexp, output []byte) (sum int64) {
	for _, digits := range e.FindSubmatch(output) {
		n, _ := strconv.ParseInt(string(digits), 10, 64) // the first group is the whole match, which is not a number
		sum += n
	}
	return sum
}

var (
	wrkSocket  = regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus  = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
	abFailed   = regexp.MustCompile(`Failed requests:\s+(\d+)`)
	abStatus   = regexp.MustCompile(`Non-2xx responses:\s+(\d+)`)
	h2loadLost = regexp.MustCompile(`(\d+) failed, (\d+) errored, (\d+) timeout`)
	heyErrors  = regexp.MustCompile(`\[(\d+)\]\s+\w+ "`)
	heyP50     = regexp.MustCompile(`50%+ in ([\d.]+) secs`)
	heyP99     = regexp.MustCompile(`99%+ in ([\d.]+) secs`)
	heyMax     = regexp.MustCompile(`Slowest:\s+([\d.]+) secs`)
)

func readWrk(_ context.Context, _ call, output []byte) (Report, error) {
	r := silent()
	r.Failed = number(wrkSocket, output) + number(wrkStatus, output)
	return r, nil
}

func readAB(_ context.Context, _ call, output []byte) (Report, error) {
	r := silent()
	r.Failed = number(abFailed, output) + number(abStatus, output)
	return r, nil
}

func readH2load(_ context.Context, _ call, output []byte) (Report, error) {
	r := silent()
	r.Failed = number(h2loadLost, output)
	return r, nil
}

func readHey(_ context.Context, _ call, output []byte) (Report, error) {
	r := silent()
	r.Failed = number(heyErrors, output)
	for _, f := range []struct {
		e    *regexp.Regexp
		into *time.Duration
	}{{heyP50, &r.P50}, {heyP99, &r.P99}, {heyMax, &r.Max}} {
		if m := f.e.FindSubmatch(output); m != nil {
			s, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return r, err
			}
			*f.into = in(time.Second, s)
		}
	}
	return r, nil
}

func readFortio(_ context.Context, _ call, output []byte) (Report, error) {
	var told struct {
		RetCodes          map[string]int64
		DurationHistogram struct {
			Count       int64
			Max         float64
			Percentiles []struct{ Percentile, Value float64 }
		}
	}
	if err := parse(output, &told); err != nil {
		return Report{}, err
	}
	r := silent()
	r.Failed = told.DurationHistogram.Count - told.RetCodes["200"]
	r.Max = in(time.Second, told.DurationHistogram.Max)
	for _, p := range told.DurationHistogram.Percentiles {
		switch p.Percentile {
		case 50:
			r.P50 = in(time.Second, p.Value)
		case 99:
			r.P99 = in(time.Second, p.Value)
		case 99.9:
			r.P999 = in(time.Second, p.Value)
		}
	}
	return r, nil
}

func readBombardier(_ context.Context, _ call, output []byte) (Report, error) {
	var told struct {
		Result struct {
			Req4xx, Req5xx, Others int64
			Latency                struct {
				Max         float64
				Percentiles map[string]float64
			}
		}
	}
	if err := parse(output, &told); err != nil {
		return Report{}, err
	}
	r, l := silent(), told.Result.Latency
	r.Failed = told.Result.Req4xx + told.Result.Req5xx + told.Result.Others
	r.P50, r.P99, r.Max = in(time.Microsecond, l.Percentiles["50"]), in(time.Microsecond, l.Percentiles["99"]), in(
		time.Microsecond, l.Max)
	return r, nil
}

// readPlow reads the last of several JSON documents.
func readPlow(_ context.Context, _ call, output []byte) (Report, error) {
	var told struct {
		Summary struct {
			Count  int64
			Counts map[string]int64
		}
		Statistics  struct{ Latency struct{ Max string } }
		Percentiles map[string]string
	}
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		if err := d.Decode(&told); err == io.EOF {
			break
		} else if err != nil {
			return Report{}, err
		}
	}
	r := silent()
	r.Failed = told.Summary.Count - told.Summary.Counts["2xx"]
	var errs []error
	for _, f := range []struct {
		text string
		into *time.Duration
	}{
		{told.Percentiles["P50"], &r.P50}, {told.Percentiles["P99"], &r.P99}, {told.Percentiles["P99.9"], &r.P999},
		{told.Statistics.Latency.Max, &r.Max},
	} {
		d, err := time.ParseDuration(f.text)
		*f.into = d
		errs = append(errs, err)
	}
	return r, errors.Join(errs...)
}

func readOha(_ context.Context, _ call, output []byte) (Report, error) {
	var told struct {
		Summary            struct{ Slowest float64 }
		LatencyPercentiles map[string]float64
		ErrorDistribution  map[string]int64
	}
	if err := parse(output, &told); err != nil {
		return Report{}, err
	}
	r, p := silent(), told.LatencyPercentiles
	r.Failed = 0
	for what, n := range told.ErrorDistribution {
		if what != "aborted due to deadline" {
			r.Failed += n
		}
	}
	r.P50, r.P99, r.P999, r.Max = in(time.Second, p["p50"]), in(time.Second, p["p99"]), in(time.Second,
		p["p99.9"]), in(time.Second, told.Summary.Slowest)
	return r, nil
}

func readAutocannon(_ context.Context, _ call, output []byte) (Report, error) {
	var told struct {
		Errors, Timeouts, Non2xx int64
		Latency                  struct {
			P50, P99, Max float64
			P999          float64 `json:"p99_9"`
		}
	}
	if err := parse(output, &told); err != nil {
		return Report{}, err
	}
	r, l, ms := silent(), told.Latency, time.Millisecond
	r.Failed = told.Errors + told.Timeouts + told.Non2xx
	r.P50, r.P99, r.P999, r.Max = in(ms, l.P50), in(ms, l.P99), in(ms, l.P999), in(ms, l.Max)
	return r, nil
}

// readVegeta runs vegeta to read its own result file.
func readVegeta(ctx context.Context, c call, _ []byte) (Report, error) {
	output, err := exec.CommandContext(ctx, c.program, "report", "-type", "json", c.results).Output()
	if err != nil {
		return Report{}, fmt.Errorf("vegeta report: %w", err)
	}
	var told struct {
		Requests  int64
		Latencies struct {
			P50 int64 `json:"50th"`
			P99 int64 `json:"99th"`
			Max int64
		}
		Codes map[string]int64 `json:"status_codes"`
	}
	if err := parse(output, &told); err != nil {
		return Report{}, err
	}
	r := silent()
	r.Failed = told.Requests - told.Codes["200"]
	r.P50, r.P99, r.Max = time.Duration(told.Latencies.P50), time.Duration(told.Latencies.P99), time.Duration(
		told.Latencies.Max)
	return r, nil
}
