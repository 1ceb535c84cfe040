package record

import "github.com/weirhq/weir/load/internal/latencies"

// Measures are the measurements of a recorder besides the headline, which has the latency
// from due in the open loop and else from sent. Their memory does not grow with the number of requests.
type Measures struct {
	Classes    [10]*latencies.Distribution // from sent, by the status's first digit; nil without a response
	FirstByte  *latencies.Distribution
	Lag        *latencies.Distribution // open loop only
	Missed     latencies.Misses        // from sent
	Connect    *latencies.Distribution
	Handshake  *latencies.Distribution // TLS only
	StreamWait *latencies.Distribution // HTTP/2: from a free connection to a free stream
	Codes      [1000]int64
	Endpoints  []EndpointTally // nil for one endpoint
	Wrong      *Wrong          // nil if the plan expects nothing
}

// phases returns all distributions but those of the classes.
func (m *Measures) phases() []**latencies.Distribution {
	return []**latencies.Distribution{&m.FirstByte, &m.Lag, &m.Connect, &m.Handshake, &m.StreamWait}
}

// empty returns empty measures of the same run.
func (m *Measures) empty() Measures {
	var e Measures
	of := e.phases()
	for i, d := range m.phases() {
		if *d != nil {
			*of[i] = latencies.New()
		}
	}
	if m.Endpoints != nil {
		e.Endpoints = newEndpointTallies(len(m.Endpoints))
	}
	if m.Wrong != nil {
		e.Wrong = NewWrong(len(m.Wrong.Reasons))
	}
	return e
}

// merge adds measures of the same run.
func (m *Measures) merge(o *Measures) {
	for class, d := range o.Classes {
		if d != nil && m.Classes[class] == nil {
			m.Classes[class] = latencies.New()
		}
		m.Classes[class].Merge(d)
	}
	from := o.phases()
	for i, d := range m.phases() {
		(*d).Merge(*from[i])
	}
	for code, n := range o.Codes {
		m.Codes[code] += n
	}
	m.Missed.Merge(&o.Missed)
	for i := range o.Endpoints {
		m.Endpoints[i].merge(&o.Endpoints[i])
	}
	if m.Wrong != nil {
		m.Wrong.merge(o.Wrong)
	}
}

// reset empties the measures.
func (m *Measures) reset() {
	for _, d := range m.Classes {
		if d != nil {
			d.Reset()
		}
	}
	for _, d := range m.phases() {
		if *d != nil {
			(*d).Reset()
		}
	}
	m.Missed.Reset()
	clear(m.Codes[:])
	for i := range m.Endpoints {
		m.Endpoints[i].reset()
	}
	if m.Wrong != nil {
		*m.Wrong = *NewWrong(len(m.Wrong.Reasons))
	}
}

// An EndpointTally counts the requests of one endpoint.
type EndpointTally struct {
	Sent, Failed, Unanswered int64
	Classes                  [10]int64 // answered, by the status's first digit
	latencies.Times                    // as in the recorder's headline
}

func newEndpointTallies(n int) []EndpointTally {
	tallies := make([]EndpointTally, n)
	for i := range tallies {
		tallies[i].Times = latencies.NewTimes()
	}
	return tallies
}

func (t *EndpointTally) merge(o *EndpointTally) {
	t.Sent += o.Sent
	t.Failed += o.Failed
	t.Unanswered += o.Unanswered
	for class, n := range o.Classes {
		t.Classes[class] += n
	}
	t.Times.Merge(&o.Times)
}

func (t *EndpointTally) reset() {
	t.Times.Reset()
	*t = EndpointTally{Times: t.Times}
}
