package compare

// serverCPU is the server's CPU time for each answer, in microseconds.
func serverCPU(g group) (measured, bool) {
	var cpu, answers float64
	for _, r := range g.runs {
		if r.Server == nil {
			return measured{}, false
		}
		cpu += r.Server.CPUSeconds
		answers += float64(r.Requests)
	}
	return measured{value: 1e6 * cpu / answers}, answers > 0
}

// serverRSS is the most memory that the server had in a run, in bytes.
func serverRSS(g group) (measured, bool) {
	var most float64
	for _, r := range g.runs {
		if r.Server == nil || r.Server.PeakRSS == 0 {
			return measured{}, false
		}
		most = max(most, float64(r.Server.PeakRSS))
	}
	return measured{value: most}, true
}
