package service

import (
	"context"
	"slices"
	"syscall"
	"time"
)

const (
	leftBehind = time.Second     // how long those may live that have left the group, when that one has ended
	killWithin = 5 * time.Second // how long the kernel may take
	hurried    = 2 * time.Second // how long all may take when someone waits for it
)

// end ends the family.
func (s *Service) end(ctx context.Context, within time.Duration) (e Ending) {
	living, _ := s.family.look()
	if !slices.ContainsFunc(living, func(p proc) bool { return p.PID == s.family.root }) {
		e.Outlived = named(living)
	}
	s.terminate(living)
	e.Left = named(s.await(ctx, time.Now().Add(within)))
	e.Alive = named(s.killAll())
	return e
}

func named(all []proc) (names []string) {
	for _, p := range all {
		names = append(names, p.String())
	}
	slices.Sort(names)
	return names
}

// terminate sends SIGTERM to the group that the program was made the head of.
func (s *Service) terminate(living []proc) {
	if slices.ContainsFunc(living, s.inGroup) {
		syscall.Kill(-s.family.root, syscall.SIGTERM)
	}
}

func (s *Service) inGroup(p proc) bool { return p.Group == s.family.root }

// await returns who lives when the time is over, which is soon once ctx is done.
func (s *Service) await(ctx context.Context, deadline time.Time) []proc {
	alone := false // the group has ended
	hurry := ctx.Done()
	for rest := time.Millisecond; ; rest = min(2*rest, 50*time.Millisecond) {
		living, err := s.family.look()
		if err != nil || len(living) == 0 {
			return nil // without /proc nobody would have been found
		}
		if !alone && !slices.ContainsFunc(living, s.inGroup) {
			alone = true
			deadline = atMost(deadline, leftBehind)
		}
		if !time.Now().Before(deadline) {
			return living
		}
		select {
		case <-hurry:
			hurry = nil
			deadline = atMost(deadline, hurried)
		case <-time.After(min(rest, time.Until(deadline))):
		}
	}
}

// atMost returns a deadline that is so far away at most.
func atMost(deadline time.Time, d time.Duration) time.Time {
	if soon := time.Now().Add(d); soon.Before(deadline) {
		return soon
	}
	return deadline
}

// killAll kills who lives, and returns who lives even then.
func (s *Service) killAll() []proc {
	deadline := time.Now().Add(killWithin)
	for {
		living, err := s.family.look()
		if err != nil || len(living) == 0 || time.Now().After(deadline) {
			return living
		}
		for _, p := range living {
			p.signal(syscall.SIGKILL) // who may not be killed is in what is returned
		}
		time.Sleep(time.Millisecond)
	}
}
