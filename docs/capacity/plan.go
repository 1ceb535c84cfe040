package main

import (
	"errors"
	"math"
	"time"
)

// A plan holds the assumptions.
type plan struct {
	costs         costs
	events        int           // in the log, for each request: 1 or 3
	perConnection float64       // requests on each connection of a client
	interval      time.Duration // between two requests on a connection
	response      float64       // bytes
	sample        float64       // share of the events that are kept
	cores         int           // of a machine
	use           float64       // share of a machine's CPU time that the plan uses
	coreHour      float64       // price of a processor for an hour
	gigabyteMonth float64       // price of a gigabyte of storage for a month
	days          int           // for which the log is kept
}

func (p plan) check() error {
	switch {
	case p.events != 1 && p.events != 3:
		return errors.New("-events: a request has 1 or 3 events")
	case p.perConnection < 1 || p.interval <= 0 || p.response < 0 || p.cores < 1 || p.coreHour < 0 || p.gigabyteMonth < 0 ||
		p.days < 0:
		return errors.New("-reuse and -cores are at least 1, -interval is above 0, and no other value is negative")
	case p.use <= 0 || p.use > 1 || p.sample < 0 || p.sample > 1:
		return errors.New("-use and -sample are shares: up to 1, and -use is above 0")
	}
	return nil
}

// A need has the resources for a rate of requests.
type need struct {
	rate        float64 // requests per second
	cpu         float64 // CPU time of a request, in microseconds, with its share of a handshake
	cores       float64 // busy processors
	machines    float64 // front doors
	connections float64 // of clients, open at a time
	memory      float64 // of all connections, in bytes
	network     float64 // to the clients, in bits per second
	handshakes  float64 // per second

	eventsPerSecond float64
	logRate         float64 // bytes per second that are kept
	logKept         float64 // bytes
	streams         float64 // of JetStream

	leaseCalls float64 // per second, to the server of shared limits

	machineMoney, logMoney float64 // per month
}

// bodyShare is the share of a response of 16 KiB that is its body beyond the 1 KiB of the other measured responses.
const bodyShare = 15 << 10

// requestCPU returns the CPU time of a request in microseconds.
func (p plan) requestCPU() float64 {
	c := p.costs
	cpu := c[overTLS] + c[handshake]/p.perConnection
	if p.events == 3 {
		cpu += c[threeEvents] - c[oneEvent]
	}
	perByte := max(0, c[response16K]-c[oneEvent]) / bodyShare
	return cpu + perByte*max(0, p.response-1<<10)
}

// The assumptions about the other engines. Sources are in docs/capacity.md.
const (
	streamBytes   = 100e6 // per second, that one stream of JetStream with three replicas stores
	spareShare    = 0.1   // machines beyond the needed ones, at least one
	hoursPerMonth = 730
)

// leaseCalls returns the calls per second of a fleet with one bucket that is nearly empty: each
// replica takes tokens for 50 ms or, with more than 10 replicas, 5 ms for each of them, at most
// for a second, and registers once a second (docs/limits.md).
func leaseCalls(replicas float64) float64 {
	return replicas * (1 + 1/min(1, max(0.05, 0.005*replicas)))
}

// need computes the resources for a rate.
func (p plan) need(rate float64) need {
	n := need{rate: rate, cpu: p.requestCPU()}
	n.cores = rate * n.cpu / 1e6
	busy := math.Ceil(n.cores / p.use / float64(p.cores))
	n.machines = busy + max(1, math.Ceil(spareShare*busy))
	n.connections = rate * p.interval.Seconds()
	n.memory = n.connections * p.costs[connectionTLS]
	n.network = rate * p.response * 8
	n.handshakes = rate / p.perConnection
	bytes := p.costs[oneEventBytes]
	if p.events == 3 {
		bytes = p.costs[threeEventBytes]
	}
	n.eventsPerSecond = rate * float64(p.events) * p.sample
	n.logRate = rate * bytes * p.sample
	n.logKept = n.logRate * float64(p.days) * 24 * 3600
	n.streams = math.Ceil(n.logRate / streamBytes)
	n.leaseCalls = leaseCalls(n.machines)
	n.machineMoney = n.machines * float64(p.cores) * p.coreHour * hoursPerMonth
	n.logMoney = n.logKept / 1e9 * p.gigabyteMonth
	return n
}
