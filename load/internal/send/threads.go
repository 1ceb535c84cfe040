package send

import "crypto/tls"

// NewHTTP1 returns a thread for each part of a run over HTTP/1.1. config is nil without TLS.
// onGoroutines is for tests on systems that have loops.
func NewHTTP1(parts []Part, config *tls.Config, onGoroutines bool) ([]Thread, error) {
	readTimes := processTimes(len(parts)) // goroutines compute the handshakes of TLS
	if HasLoops && config == nil && !onGoroutines {
		readTimes = threadTimes
	}
	drivers := goroutineDrivers(len(parts))
	if HasLoops && !onGoroutines {
		var err error
		if drivers, err = loopDrivers(len(parts)); err != nil {
			return nil, err
		}
	}
	threads := make([]Thread, len(parts))
	for i, p := range parts {
		t := &http1{Part: p, driver: drivers[i], config: config, readTimes: readTimes}
		t.free.slots = make([]*slot, t.Most)
		if p.Run.NoKeepAlive {
			t.First = 0
		}
		threads[i] = t
	}
	return threads, nil
}
