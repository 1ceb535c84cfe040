package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Share is a part of a plan that several generators execute together, for example on
// several machines. All shares together send the requests of the whole plan: the same
// schedule, numbers in templates, lines of files, and total of connections. [Merge]
// merges their Results. The zero Share is the whole plan.
type Share struct {
	Number int `json:"number"` // from 1
	Of     int `json:"of"`     // the number of shares
}

// ParseShare reads a share in the notation of the command line, such as "2/8".
func ParseShare(text string) (Share, error) {
	number, of, _ := strings.Cut(text, "/")
	n, errNumber := strconv.Atoi(number)
	m, errOf := strconv.Atoi(of)
	s := Share{n, m}
	if errNumber != nil || errOf != nil || !s.valid() {
		return Share{}, fmt.Errorf("%q is not a share; the second of eight is 2/8", text)
	}
	return s, nil
}

// String returns a text such as "2/8".
func (s Share) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Of) }

func (s Share) valid() bool { return 1 <= s.Number && s.Number <= s.Of }

// part returns the number of a thread's part of the whole plan, and the number of parts.
// Each share takes every Of-th request, and its threads take these in turn. So shares may
// have different numbers of threads.
func (s Share) part(thread, threads int) (part, parts int) {
	if s.Of == 0 {
		return thread, threads
	}
	return thread*s.Of + s.Number - 1, threads * s.Of
}

// A ShareResult describes a share and its plan. The fields about the plan are equal in all
// shares of one plan.
type ShareResult struct {
	Share
	StartAt         time.Time `json:"start_at"`
	Connections     int       `json:"connections"`
	MaxConnections  int       `json:"max_connections"`
	DurationSeconds float64   `json:"duration_seconds,omitempty"`
	Requests        int64     `json:"requests,omitempty"`
	Backlog         int       `json:"backlog,omitempty"`
	NoKeepAlive     bool      `json:"no_keepalive,omitempty"`

	// Agent is the name of the generator. Lost is the reason why it did not return a
	// complete result: it then has the requests that had ended until the last report.
	Agent string `json:"agent,omitempty"`
	Lost  string `json:"lost,omitempty"`

	// ClockOffset is how far the agent's clock was ahead of the coordinator's, which the
	// start allows for. ClockError limits the error of ClockOffset.
	ClockOffset Micros `json:"clock_offset_us,omitempty"`
	ClockError  Micros `json:"clock_error_us,omitempty"`
}
