package load

import (
	"errors"
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

// divide reduces the numbers of the plan to those of its share.
func (p *Plan) divide() error {
	if p.Share == (Share{}) {
		return nil
	}
	switch {
	case !p.Share.valid():
		return fmt.Errorf("load: there is no share %v of a plan", p.Share)
	case p.StartAt.IsZero():
		return errors.New("load: the plan has a Share and no StartAt, by which all shares start together")
	case p.Seed == 0:
		return errors.New("load: the plan has a Share and no Seed; all shares need the same")
	}
	p.shared = &ShareResult{
		Share: p.Share, StartAt: p.StartAt, Connections: p.Connections, MaxConnections: p.MaxConnections,
		DurationSeconds: p.Duration.Seconds(), Requests: p.Requests, Backlog: p.Backlog, NoKeepAlive: p.NoKeepAlive,
	}
	if n := int64(p.Share.Of); int64(p.Connections) < n || 0 < p.Requests && p.Requests < n {
		return fmt.Errorf("load: a plan with %d connections and %s cannot have %d shares", p.Connections,
			limit(p.Requests), n)
	}
	i, n := p.Share.Number-1, p.Share.Of
	p.Connections, p.MaxConnections = share(p.Connections, i, n), share(p.MaxConnections, i, n)
	p.Requests = share(p.Requests, i, n)
	p.Points = share(p.Points, i, n)
	if p.Backlog > 0 {
		p.Backlog = max(1, share(p.Backlog, i, n)) // 0 is no limit
	}
	return nil
}

// share returns part i of n that is divided into so many parts, which differ by 1 at most.
func share[N int | int64](n N, i, parts int) N {
	return (n - N(i) + N(parts) - 1) / N(parts)
}

// limit returns a limit of requests as text.
func limit(n int64) string {
	if n == 0 {
		return "any number of requests"
	}
	return requests(n)
}
