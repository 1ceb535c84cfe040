package yamlfile

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The times of rates, from the shortest.
var rateTimes = []struct {
	name string
	time time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// cutRate splits a rate, such as 100/s, into its amount and its time.
func cutRate(text string) (amount string, per time.Duration, ok bool) {
	amount, unit, _ := strings.Cut(text, "/")
	for _, t := range rateTimes {
		if t.name == unit {
			return amount, t.time, true
		}
	}
	return "", 0, false
}

// shortestInterval bounds the effect of the rounding of intervals: a rate differs by 0.05% at most.
const shortestInterval = time.Microsecond

// Rate parses a number of events in a time, and returns the average interval of two events, rounded to a nanosecond.
func Rate(s Scalar) (interval time.Duration, refused *Refusal) {
	s.Describe(Form{Name: "rate", Unit: "/s, /m, /h, /d", Pattern: "[0-9]+/[smhd]"})
	amount, per, ok := cutRate(s.Text)
	n, err := strconv.ParseUint(amount, 10, 63)
	switch {
	case !ok || err != nil:
		return 0, refuseRate(s.Text)
	case n == 0:
		return 0, Refuse("write 1"+s.Text[len(amount):]+" or more", "%s allows nothing", Quote(s.Text))
	case n > uint64(per/shortestInterval):
		return 0, Refuse("write "+ShowRate(shortestInterval)+" or less", "%s is too much", Quote(s.Text))
	}
	return (per + time.Duration(n/2)) / time.Duration(n), nil
}

// foreignRate matches rates as other programs write them: 100r/s, 100 req/s, 10/min, 0.5/s, 100 per second, 100rps.
var foreignRate = regexp.MustCompile(`^([0-9.]+) ?(?:r|req|requests)? ?(?:/|p|per) ?([smhd])[a-z]*$`)

// refuseRate returns why a text is not a rate, and the rate that it probably means.
func refuseRate(text string) *Refusal {
	if _, err := strconv.ParseUint(text, 10, 63); err == nil {
		return Refuse("add a unit, as in "+text+"/s", "%s is a number without a unit", Quote(text))
	}
	hint := "write a number and a time, as in 100/s, 6/m or 10/h"
	interval, refused := Duration(Scalar{Text: text})
	if parts := foreignRate.FindStringSubmatch(text); parts != nil {
		if n, err := strconv.ParseFloat(parts[1], 64); err == nil && n > 0 {
			_, per, _ := cutRate("/" + parts[2])
			interval = time.Duration(float64(per) / n)
		}
	}
	if (refused == nil || interval > 0) && interval >= shortestInterval {
		hint = "write " + ShowRate(interval)
	}
	return Refuse(hint, "%s is not a rate", Quote(text))
}

// ShowRate returns the rate of events in an interval, for [Rate] to parse. If no rate has this interval, it is a near
// one, and at least 1/d.
func ShowRate(interval time.Duration) string {
	for _, t := range rateTimes {
		n := (t.time + interval/2) / interval
		if difference := (n*interval - t.time).Abs(); n > 0 && difference < t.time/1000 {
			return strconv.FormatInt(int64(n), 10) + "/" + t.name
		}
	}
	return "1/d"
}

// Speed parses a number of bytes in a time, and returns the bytes per second, without a fraction.
func Speed(s Scalar) (int64, *Refusal) {
	s.Describe(Form{Name: "speed", Unit: "B/s, KiB/s, MiB/s, GiB/s, also /m, /h, /d", Pattern: "[0-9]+(B|KiB|MiB|GiB)/[smhd]"})
	amount, per, ok := cutRate(s.Text)
	if !ok {
		return 0, Refuse("write bytes and a time, as in 500B/s or 20KiB/s", "%s is not a speed", Quote(s.Text))
	}
	size, refused := Size(Scalar{Text: amount})
	speed := size / int64(per/time.Second)
	if speed == 0 && size > 0 {
		return 0, Refuse("write 1B/s or more", "%s is less than a byte per second", Quote(s.Text))
	}
	return speed, refused
}
