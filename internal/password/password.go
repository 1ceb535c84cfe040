// Package password makes and verifies hashes of passwords: argon2id, as in
// $argon2id$v=19$m=19456,t=2,p=1$SALT$HASH, and bcrypt, as in $2y$10$HASH. Only
// [New] makes hashes, and they are of argon2id.
package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// A Hash verifies a password. Goroutines may share it. The zero Hash matches nothing.
type Hash struct {
	bcrypt []byte // nil for argon2id
	argon2 argon2Hash
}

// argon2Hash is a hash of RFC 9106.
type argon2Hash struct {
	memoryKiB, passes uint32
	lanes             uint8
	salt, sum         []byte
}

// The errors of [Parse].
var (
	// ErrUnknown means that the text may be a password itself.
	ErrUnknown = errors.New("it is not a hash of argon2id or bcrypt")
	// ErrWeak means that the text is a hash that can be reversed with little work.
	ErrWeak = errors.New("its hash is too weak")
	// ErrMalformed means that the text begins like a hash of argon2id or bcrypt.
	ErrMalformed = errors.New("its hash is malformed")
	// ErrCostly means that one verification would take seconds, or too much memory.
	ErrCostly = errors.New("its hash is too costly to verify")
)

// The limits of the cost of a hash: about a second.
const (
	maxMemoryKiB = 512 << 10
	maxWork      = 4 << 20 // passes over memory, in KiB
	maxBcrypt    = 14
)

// Parse parses a hash. The errors do not contain the text.
func Parse(text string) (Hash, error) {
	for _, prefix := range []string{"$2a$", "$2b$", "$2y$"} {
		if strings.HasPrefix(text, prefix) {
			return parseBcrypt(text)
		}
	}
	if rest, ok := strings.CutPrefix(text, "$argon2id$"); ok {
		return parseArgon2(rest)
	}
	for _, prefix := range []string{"$", "{SHA}", "{SSHA}", "{PLAIN}"} {
		if strings.HasPrefix(text, prefix) {
			return Hash{}, ErrWeak
		}
	}
	return Hash{}, ErrUnknown
}

func parseBcrypt(text string) (Hash, error) {
	const length = 60
	cost, err := bcrypt.Cost([]byte(text))
	switch {
	case err != nil || len(text) != length || !isBase64(base64.NewEncoding(bcryptAlphabet), text[7:]):
		return Hash{}, ErrMalformed
	case cost > maxBcrypt:
		return Hash{}, ErrCostly
	}
	return Hash{bcrypt: []byte(text)}, nil
}

const bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// isBase64 reports whether s has only characters of an encoding.
func isBase64(e *base64.Encoding, s string) bool {
	_, err := e.WithPadding(base64.NoPadding).DecodeString(s[:len(s)/4*4])
	return err == nil
}

func parseArgon2(text string) (Hash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 4 || parts[0] != "v="+strconv.Itoa(argon2.Version) {
		return Hash{}, ErrMalformed
	}
	var a argon2Hash
	settings := strings.Split(parts[1], ",")
	if len(settings) != 3 {
		return Hash{}, ErrMalformed
	}
	var values [3]uint64
	for i, name := range []string{"m=", "t=", "p="} {
		digits, ok := strings.CutPrefix(settings[i], name)
		n, err := strconv.ParseUint(digits, 10, 32)
		if !ok || err != nil || n == 0 {
			return Hash{}, ErrMalformed
		}
		values[i] = n
	}
	if values[2] > 255 {
		return Hash{}, ErrMalformed
	}
	if values[0] > maxMemoryKiB || values[0]*values[1] > maxWork {
		return Hash{}, ErrCostly
	}
	a.memoryKiB, a.passes, a.lanes = uint32(values[0]), uint32(values[1]), uint8(values[2])
	var saltErr, sumErr error
	a.salt, saltErr = base64.RawStdEncoding.DecodeString(parts[2])
	a.sum, sumErr = base64.RawStdEncoding.DecodeString(parts[3])
	if saltErr != nil || sumErr != nil || len(a.salt) < 8 || len(a.sum) < 16 || len(a.sum) > 64 {
		return Hash{}, ErrMalformed
	}
	return Hash{argon2: a}, nil
}

// Matches reports whether the hash belongs to the password. It takes milliseconds to a
// second of CPU time, whether it matches or not, and the memory of the hash. Of a password,
// bcrypt uses only the first 72 bytes.
func (h Hash) Matches(password string) bool {
	if h.bcrypt != nil {
		return bcrypt.CompareHashAndPassword(h.bcrypt, []byte(password)) == nil
	}
	a := &h.argon2
	return len(a.sum) > 0 && subtle.ConstantTimeCompare(a.sum, a.compute(password)) == 1
}

func (a *argon2Hash) compute(password string) []byte {
	return argon2.IDKey([]byte(password), a.salt, a.passes, a.memoryKiB, a.lanes, uint32(len(a.sum)))
}

// New returns a new hash of a password: argon2id with 19 MiB of memory and two passes,
// which the OWASP Password Storage Cheat Sheet recommends.
func New(password string) string {
	a := argon2Hash{memoryKiB: 19 << 10, passes: 2, lanes: 1, salt: make([]byte, 16), sum: make([]byte, 32)}
	rand.Read(a.salt) // never fails
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, a.memoryKiB, a.passes, a.lanes,
		encode(a.salt), encode(a.compute(password)))
}
