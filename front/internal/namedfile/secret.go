package namedfile

import (
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// minSecret is the least length of a secret in bytes.
const minSecret = 16

// A Secret is a secret as a configuration has it: as the text of a key, or as the path of a file in another key, whose
// name is that of the first one and "_file".
type Secret struct{ Text, File yamlfile.Scalar }

// IsGiven reports whether one of the two keys is given.
func (s *Secret) IsGiven() bool { return s.Text.Pos.Line > 0 || s.File.Pos.Line > 0 }

// Read returns the secret, which is given. of is the name of the mapping, and key that of the first key. read reads a
// file, and reports mistakes. The mistakes do not show the secret.
func (s *Secret) Read(f *yamlfile.File, of, key string,
	read func(by *yamlfile.File, at yamlfile.Pos, kind, name string) ([]byte, bool)) (secret string) {
	hint := "write " + key + "_file: FILE, with a key such as openssl rand -hex 32 makes"
	at := s.Text.Pos
	switch {
	case s.Text.Pos.Line > 0 && s.File.Pos.Line > 0:
		f.Mistakef(s.File.Pos, "remove one of the two", "%s has a %s and a %s_file", of, key, key)
		return ""
	case s.File.Pos.Line > 0:
		at = s.File.Pos
		src, ok := read(f, at, "the "+key, Resolve(f.Name(), s.File.Text))
		if !ok {
			return ""
		}
		secret = strings.TrimRight(string(src), "\r\n")
	default:
		secret = s.Text.Text
	}
	if n := len(secret); n < minSecret {
		f.Mistakef(at, hint, "the %s has %d bytes, and must have at least %d", key, n, minSecret)
	}
	return secret
}
