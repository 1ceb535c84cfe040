package replay

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// isLTSV reports whether a line is labels and values: time:2026-11-29T10:00:00Z, a tab, and so on.
func isLTSV(line []byte) bool {
	first, _, several := bytes.Cut(line, []byte("\t"))
	return several && bytes.IndexByte(first, ':') > 0
}

// parseLTSV reads an event of Weir in LTSV, or the log of another server with the labels of ltsv.org: time, method, uri
// and vhost.
func parseLTSV(line string) (entry, error) {
	var e entry
	values := make(map[string]string, 16)
	for field := range strings.SplitSeq(line, "\t") {
		if label, value, ok := strings.Cut(field, ":"); ok {
			if _, known := values[label]; !known {
				values[label] = value
			}
		}
	}
	switch {
	case values["event"] != "" && values["event"] != completed:
		return e, errOther
	case values["method"] == "" || values["uri"] == "":
		return e, errors.New("the line has no method or no uri")
	case shortened(values["truncated"]):
		return e, errors.New("the logger has shortened the uri")
	}
	port, _ := strconv.Atoi(values["port"]) // 0 without one
	e.Method, e.Target = unescape(values["method"]), unescape(values["uri"])
	e.Host = withPort(unescape(values["vhost"]), values["scheme"], port)
	return e, e.setTime(values)
}

func shortened(labels string) bool {
	for label := range strings.SplitSeq(labels, ",") {
		if label == "uri" {
			return true
		}
	}
	return false
}

// setTime sets the beginning of the request.
func (e *entry) setTime(values map[string]string) error {
	text := values["started_at"]
	if text == "" {
		text = strings.Trim(values["time"], "[]")
	}
	var err error
	if e.began, err = time.Parse(time.RFC3339Nano, text); err != nil {
		e.wholeSecond = true
		if e.began, err = time.Parse(combinedTime, text); err != nil {
			return fmt.Errorf("%.40q is not a time such as 2026-11-29T10:00:00Z", text)
		}
	}
	if seconds, err := strconv.ParseFloat(values["reqtime"], 64); err == nil && values["started_at"] == "" && !e.wholeSecond {
		e.began = e.began.Add(-time.Duration(seconds * 1e9))
	}
	return nil
}

// unescape replaces the escapes of Weir's LTSV.
func unescape(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	if text, err := strconv.Unquote(`"` + strings.ReplaceAll(value, `"`, `\"`) + `"`); err == nil {
		return text
	}
	return value
}
