package password_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/weirhq/weir/internal/password"
)

// The references are from htpasswd of Apache 2.4 and from the tests of the reference
// implementation of argon2.
var references = []struct{ password, hash string }{
	{"swordfish", "$2y$05$vktC5YEWNql0blcYYfvUS.A1aue9l1Tk9RH3MYPleT53SEhC0BurG"},
	{"password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"},
}

func TestHashMatchesOnlyItsPassword(t *testing.T) {
	long := strings.Repeat("x", 72)
	made, err := bcrypt.GenerateFromPassword([]byte(long), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	cases := references
	cases = append(cases, struct{ password, hash string }{long, string(made)})
	for _, p := range []string{"", "swordfish", "pass:word", "päßwörd", long + "y", strings.Repeat("long", 1000)} {
		cases = append(cases, struct{ password, hash string }{p, password.New(p)})
	}
	for _, c := range cases {
		h, err := password.Parse(c.hash)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.hash, err)
			continue
		}
		if !h.Matches(c.password) {
			t.Errorf("%s does not match %q", c.hash, c.password)
		}
		for _, wrong := range []string{"wrong", strings.ToUpper(c.password) + "1", "y" + c.password} {
			if h.Matches(wrong) {
				t.Errorf("%s matches %q", c.hash, wrong)
			}
		}
	}
}

func TestNewHashesDiffer(t *testing.T) {
	if a, b := password.New("same"), password.New("same"); a == b {
		t.Errorf("two hashes of a password are both %s", a)
	}
}

func TestZeroHashMatchesNothing(t *testing.T) {
	if (password.Hash{}).Matches("") {
		t.Error("the zero hash matches the empty password")
	}
}

func TestParseRejectsOtherHashes(t *testing.T) {
	const salt, sum = "c29tZXNhbHQxMjM0NTY3OA", "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE"
	for text, want := range map[string]error{
		"":                                      password.ErrUnknown,
		"secret":                                password.ErrUnknown,
		"{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=":     password.ErrWeak,
		"$apr1$ZjTqBB3f$IF9gdYAGlMrs2fuINjHsz.": password.ErrWeak,
		"$6$rounds=5000$x$y":                    password.ErrWeak,
		"$argon2i$v=19$m=16,t=2,p=1$" + salt + "$" + sum: password.ErrWeak,
		"$2y$10$tooshort":                                         password.ErrMalformed,
		"$2y$99$" + strings.Repeat("a", 53):                       password.ErrMalformed,
		"$2y$10$" + strings.Repeat("é", 26) + "a":                 password.ErrMalformed,
		"$2y$15$" + strings.Repeat("a", 53):                       password.ErrCostly,
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt:                  password.ErrMalformed,
		"$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + sum:      password.ErrMalformed,
		"$argon2id$v=19$m=19456,t=2$" + salt + "$" + sum:          password.ErrMalformed,
		"$argon2id$v=19$t=2,m=19456,p=1$" + salt + "$" + sum:      password.ErrMalformed,
		"$argon2id$v=19$m=19456,t=0,p=1$" + salt + "$" + sum:      password.ErrMalformed,
		"$argon2id$v=19$m=19456,t=2,p=256$" + salt + "$" + sum:    password.ErrMalformed,
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$":            password.ErrMalformed,
		"$argon2id$v=19$m=19456,t=2,p=1$!" + salt + "$" + sum:     password.ErrMalformed,
		"$argon2id$v=19$m=4294967295,t=2,p=1$" + salt + "$" + sum: password.ErrCostly,
		"$argon2id$v=19$m=65536,t=1000,p=1$" + salt + "$" + sum:   password.ErrCostly,
	} {
		if _, err := password.Parse(text); !errors.Is(err, want) {
			t.Errorf("Parse(%q) = %v, want %v", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(password.New("x"))
	f.Add("$2y$04$" + strings.Repeat("a", 53))
	f.Fuzz(func(t *testing.T, text string) {
		_, err := password.Parse(text)
		if err == nil && !strings.HasPrefix(text, "$argon2id$v=19$") && !strings.HasPrefix(text, "$2") {
			t.Errorf("Parse(%q) has no error", text)
		}
		if err != nil && len(text) > 8 && strings.Contains(err.Error(), text) {
			t.Errorf("the error %q contains the text", err)
		}
	})
}
