package record

// A Severity says how much an event matters; less is worse.
type Severity int8

// The severities. The zero value is for events without one, which log.go 1.x
// wrote.
const (
	SeverityNone Severity = iota
	SeverityFatal
	SeverityError
	SeverityWarn
	SeverityInfo
	SeverityDebug
)

// severities are the words for them: LTSV's, and those for people.
var severities = [...]struct{ label, upper string }{
	SeverityNone:  {"", "-"},
	SeverityFatal: {"Fatal", "FATAL"},
	SeverityError: {"Error", "ERROR"},
	SeverityWarn:  {"Warn", "WARN"},
	SeverityInfo:  {"Info", "INFO"},
	SeverityDebug: {"Debug", "DEBUG"},
}

// String returns the word for s as LTSV has it, "Warn" for example, and ""
// where there is none.
func (s Severity) String() string {
	if !s.known() {
		return ""
	}
	return severities[s].label
}

func (s Severity) known() bool { return 0 < s && int(s) < len(severities) }

// digit is what stands for s in JSON; s must be known.
func (s Severity) digit() byte { return '0' + byte(s-SeverityFatal) }

// severityOf returns the severity with that label, or none.
func severityOf(label string) Severity {
	for s := SeverityFatal; s.known(); s++ {
		if severities[s].label == label {
			return s
		}
	}
	return SeverityNone
}
