package service

import (
	"slices"
	"syscall"
	"time"
)

const (
	leftBehind = time.Second     // how long those may live that have left the group, when that one has ended
	killWithin = 5 * time.Second // how long the kernel may take
)

// end ends the family.
func (s *Service) end(within time.Duration) (e Ending) {
	s.terminate()
	for _, p := range s.await(time.Now().Add(within)) {
		e.Left = append(e.Left, p.String())
	}
	slices.Sort(e.Left)
	for _, p := range s.killAll() {
		e.Alive = append(e.Alive, p.String())
	}
	return e
}

// terminate sends SIGTERM to the group that the program was made the head of.
func (s *Service) terminate() {
	living, _ := s.family.look()
	if slices.ContainsFunc(living, s.inGroup) {
		syscall.Kill(-s.family.root, syscall.SIGTERM)
	}
}

func (s *Service) inGroup(p proc) bool { return p.group == s.family.root }

// await returns who lives when the time is over.
func (s *Service) await(deadline time.Time) []proc {
	alone := false // the group has ended
	for rest := time.Millisecond; ; rest = min(2*rest, 50*time.Millisecond) {
		living, err := s.family.look()
		if err != nil || len(living) == 0 {
			return nil // without /proc nobody would have been found
		}
		if !alone && !slices.ContainsFunc(living, s.inGroup) {
			alone = true
			if soon := time.Now().Add(leftBehind); soon.Before(deadline) {
				deadline = soon
			}
		}
		if !time.Now().Before(deadline) {
			return living
		}
		time.Sleep(min(rest, time.Until(deadline)))
	}
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
