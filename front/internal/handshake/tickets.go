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

// ticketKeys are the keys of session tickets by the id of a rule, the newest first.
type ticketKeys map[string][][32]byte

// install sets the keys of a policy's configurations, and returns them. A rule that t has keeps
// its keys.
func (t ticketKeys) install(p *Policy) ticketKeys {
	used := make(ticketKeys)
	for id, config := range p.configs() {
		keys, ok := t[id]
		if !ok {
			keys = [][32]byte{newTicketKey()}
		}
		used[id] = keys
		config.SetSessionTicketKeys(keys)
	}
	return used
}

// rotate adds a key to each list. p is the policy of these keys.
func (t ticketKeys) rotate(p *Policy) {
	for id, keys := range t {
		keys = append([][32]byte{newTicketKey()}, keys...)
		t[id] = keys[:min(len(keys), keptKeys)]
	}
	for id, config := range p.configs() {
		config.SetSessionTicketKeys(t[id])
	}
}

func newTicketKey() (key [32]byte) {
	rand.Read(key[:])
	return key
}
