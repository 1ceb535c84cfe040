package load

import "github.com/weirhq/weir/load/internal/latencies"

// measures are the measurements of a recorder that the headline does not have. Their
// memory does not grow with the number of requests.
type measures struct {
	classes    [10]*latencies.Distribution // from sent, by the status's first digit; nil without an answer
	firstByte  *latencies.Distribution
	lag        *latencies.Distribution // open loop only
	missed     latencies.Misses        // from sent
	connect    *latencies.Distribution
	handshake  *latencies.Distribution // TLS and HTTP/2 only
	streamWait *latencies.Distribution // HTTP/2: from a free connection to a free stream
	codes      [1000]int64
	endpoints  []endpointTally // nil for one endpoint
}

// phases returns all distributions but those of the classes.
func (m *measures) phases() []**latencies.Distribution {
	return []**latencies.Distribution{&m.firstByte, &m.lag, &m.connect, &m.handshake, &m.streamWait}
}

// empty returns empty measures of the same run.
func (m *measures) empty() measures {
	var e measures
	of := e.phases()
	for i, d := range m.phases() {
		if *d != nil {
			*of[i] = latencies.New()
		}
	}
	for range m.endpoints {
		e.endpoints = append(e.endpoints, endpointTally{Times: latencies.NewTimes()})
	}
	return e
}

// merge adds measures of the same run.
func (m *measures) merge(o *measures) {
	for class, d := range o.classes {
		if d != nil && m.classes[class] == nil {
			m.classes[class] = latencies.New()
		}
		m.classes[class].Merge(d)
	}
	from := o.phases()
	for i, d := range m.phases() {
		(*d).Merge(*from[i])
	}
	for code, n := range o.codes {
		m.codes[code] += n
	}
	m.missed.Merge(&o.missed)
	for i := range o.endpoints {
		m.endpoints[i].merge(&o.endpoints[i])
	}
}

// reset empties the measures.
func (m *measures) reset() {
	for _, d := range m.classes {
		if d != nil {
			d.Reset()
		}
	}
	for _, d := range m.phases() {
		if *d != nil {
			(*d).Reset()
		}
	}
	m.missed.Reset()
	clear(m.codes[:])
	for i := range m.endpoints {
		m.endpoints[i].reset()
	}
}
