package load

// measures are the measurements of a recorder that the headline does not have. Their
// memory does not grow with the number of requests.
type measures struct {
	classes    [10]*distribution // from sent, by the status's first digit; nil without an answer
	firstByte  *distribution
	lag        *distribution // open loop only
	missed     misses        // from sent
	connect    *distribution
	handshake  *distribution // TLS and HTTP/2 only
	streamWait *distribution // HTTP/2: from a free connection to a free stream
	codes      [1000]int64
	endpoints  []endpointTally // nil for one endpoint
}

// phases returns all distributions but those of the classes.
func (m *measures) phases() []**distribution {
	return []**distribution{&m.firstByte, &m.lag, &m.connect, &m.handshake, &m.streamWait}
}

// empty returns empty measures of the same run.
func (m *measures) empty() measures {
	var e measures
	of := e.phases()
	for i, d := range m.phases() {
		if *d != nil {
			*of[i] = newDistribution()
		}
	}
	for range m.endpoints {
		e.endpoints = append(e.endpoints, endpointTally{times: newTimes()})
	}
	return e
}

// merge adds measures of the same run.
func (m *measures) merge(o *measures) {
	for class, d := range o.classes {
		if d != nil && m.classes[class] == nil {
			m.classes[class] = newDistribution()
		}
		m.classes[class].merge(d)
	}
	from := o.phases()
	for i, d := range m.phases() {
		(*d).merge(*from[i])
	}
	for code, n := range o.codes {
		m.codes[code] += n
	}
	m.missed.merge(&o.missed)
	for i := range o.endpoints {
		m.endpoints[i].merge(&o.endpoints[i])
	}
}

// reset empties the measures.
func (m *measures) reset() {
	for _, d := range m.classes {
		if d != nil {
			d.reset()
		}
	}
	for _, d := range m.phases() {
		if *d != nil {
			(*d).reset()
		}
	}
	m.missed.reset()
	clear(m.codes[:])
	for i := range m.endpoints {
		m.endpoints[i].reset()
	}
}
