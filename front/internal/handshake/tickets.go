package handshake

import (
	"crypto/rand"
	"time"
)

const (
	// keyLifetime is the time for which a key encrypts new session tickets.
	keyLifetime = 8 * time.Hour
	// keptKeys is how many keys decrypt tickets. A session can be resumed for 16 to 24 hours.
	// With a key that leaks, only the traffic of these hours can be decrypted.
	keptKeys = 3
)

// ticketKeys are the keys of session tickets, the newest first.
type ticketKeys [][32]byte

func newTicketKey() (key [32]byte) {
	rand.Read(key[:])
	return key
}

// rotate adds a key to each list when the lifetime of the newest one is over.
func (s *Server) rotate(now time.Time) {
	due := s.rotateAt.Load()
	if now.UnixNano() < due || !s.rotateAt.CompareAndSwap(due, now.Add(keyLifetime).UnixNano()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, keys := range s.keys {
		keys = append(ticketKeys{newTicketKey()}, keys...)
		s.keys[id] = keys[:min(len(keys), keptKeys)]
	}
	for id, config := range s.Policy().configs() {
		config.SetSessionTicketKeys(s.keys[id])
	}
}
