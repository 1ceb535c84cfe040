package record

// A Severity is the importance of an event; a lower one is worse.
type Severity int8

// The severities. The zero value is for events without a severity, which log.go
// 1.x wrote.
const (
	SeverityNone Severity = iota
	SeverityFatal
	SeverityError
	SeverityWarn
	SeverityInfo
	SeverityDebug
)

// severities are their names in LTSV and in human form.
var severities = [...]struct{ label, upper string }{
	SeverityNone:  {"", "-"},
	SeverityFatal: {"Fatal", "FATAL"},
	SeverityError: {"Error", "ERROR"},
	SeverityWarn:  {"Warn", "WARN"},
	SeverityInfo:  {"Info", "INFO"},
	SeverityDebug: {"Debug", "DEBUG"},
}

// String returns the name of s in LTSV, such as "Warn", or "" if it has none.
func (s Severity) String() string {
	if !s.known() {
		return ""
	}
	return severities[s].label
}

func (s Severity) known() bool { return 0 < s && int(s) < len(severities) }

// digit returns the digit of s in JSON; s must be known.
func (s Severity) digit() byte { return '0' + byte(s-SeverityFatal) }

// severityOf returns the severity with that name, or SeverityNone.
func severityOf(label string) Severity {
	for s := SeverityFatal; s.known(); s++ {
		if severities[s].label == label {
			return s
		}
	}
	return SeverityNone
}
