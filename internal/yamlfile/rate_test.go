package yamlfile_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

func TestRatesAreParsed(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"100/s": 10 * time.Millisecond, "6/m": 10 * time.Second, "10/h": 6 * time.Minute, "5/d": 4*time.Hour + 48*time.Minute,
		"3/s": 333333333, "7/s": 142857143, "1000000/s": time.Microsecond, "999500/s": 1001, "60000000/m": time.Microsecond,
	} {
		if got, refused := yamlfile.Rate(yamlfile.Scalar{Text: text}); refused != nil || got != want {
			t.Errorf("Rate(%q) = %v, %v, want %v", text, got, refused, want)
		}
		if shown := yamlfile.ShowRate(want); text != "999500/s" && text != "60000000/m" && shown != text {
			t.Errorf("ShowRate(%v) = %q, want %q", want, shown, text)
		}
	}
}

// The interval of a rate differs from the exact one by half a nanosecond at most.
func TestRateIsNotTruncated(t *testing.T) {
	for n := int64(1); n <= 1000000; n = n*3/2 + 1 {
		text := strconv.FormatInt(n, 10) + "/s"
		interval, refused := yamlfile.Rate(yamlfile.Scalar{Text: text})
		if off := interval.Nanoseconds()*n - int64(time.Second); refused != nil || 2*max(off, -off) > n {
			t.Errorf("%s: %v, %v: %d requests take a second and %d ns", text, interval, refused, n, off)
		}
	}
}

// Each text is no rate; the refusal has a part of the message and of the hint.
func TestRejectedRatesHaveHints(t *testing.T) {
	for text, want := range map[string]string{
		"100":                    "a number without a unit; add a unit, as in 100/s",
		"10ms":                   "is not a rate; write 100/s",
		"7s":                     "is not a rate; write 514/h",
		"48h":                    "is not a rate; write 1/d",
		"0s":                     "is not a rate; write a number and a time, as in 100/s, 6/m or 10/h",
		"100r/s":                 "write 100/s",
		"5r/m":                   "write 5/m",
		"100 req/s":              "write 100/s",
		"10/min":                 "write 10/m",
		"10/hour":                "write 10/h",
		"100 per second":         "write 100/s",
		"100rps":                 "write 100/s",
		"0.5/s":                  "write 30/m",
		"0/h":                    "allows nothing; write 1/h or more",
		"0.0/s":                  "is not a rate; write a number and a time",
		"-1/s":                   "is not a rate; write a number and a time",
		"1000001/s":              "is too much; write 1000000/s or less",
		"99999999999999999999/s": "is not a rate",
		"100/":                   "is not a rate; write a number and a time",
		"/s":                     "is not a rate; write a number and a time",
		"":                       "is not a rate; write a number and a time",
	} {
		interval, refused := yamlfile.Rate(yamlfile.Scalar{Text: text})
		if refused == nil {
			t.Errorf("Rate(%q) = %v", text, interval)
		} else if got := refused.What + "; " + refused.Hint; !strings.Contains(got, want) {
			t.Errorf("Rate(%q): %s\nwant %s", text, got, want)
		}
	}
}

func TestSpeedsAreParsed(t *testing.T) {
	for text, want := range map[string]int64{
		"500B/s": 500, "20KiB/s": 20 << 10, "60KiB/m": 1 << 10, "1KiB/m": 17, "0B/s": 0,
		"1B/m": -1, "500/s": -1, "500B": -1, "500B/": -1, "500B/w": -1, "": -1,
	} {
		got, refused := yamlfile.Speed(yamlfile.Scalar{Text: text})
		if refused != nil {
			got = -1
		}
		if got != want {
			t.Errorf("Speed(%q) = %d, %v, want %d", text, got, refused, want)
		}
	}
}
