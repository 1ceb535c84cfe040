package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestAdminTokenIsRead reads tokens from the configuration, the environment and a file.
func TestAdminTokenIsRead(t *testing.T) {
	t.Setenv("ADMIN_TOKEN", "fedcba9876543210")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from a file of 25 bytes!!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]string{
		"":                      {config.DefaultAdmin, ""},
		"admin: 127.0.0.1:9901": {"127.0.0.1:9901", ""},
		"admin: off":            {config.AdminOff, ""},
		"admin: {address: 127.0.0.1:9901, token: 0123456789abcdef}": {"127.0.0.1:9901", "0123456789abcdef"},
		`admin: {token: "${ADMIN_TOKEN}"}`:                          {config.DefaultAdmin, "fedcba9876543210"},
		"admin: {token_file: " + file + "}":                         {config.DefaultAdmin, "from a file of 25 bytes!!"},
	} {
		cfg, err := config.Parse("weir.yaml", []byte(text+"\nroutes: {match: /, respond: {status: 204}}\n"), os.LookupEnv)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := [2]string{cfg.Admin, cfg.AdminToken}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"admin: {token: short}":                                      "1:16: the token has 5 bytes, and must have at least 16",
		`admin: {token: ""}`:                                         "1:16: ",
		`admin: {token: "0123456789abcdef\n"}`:                       "1:16: the value contains a control character; ",
		"admin: {token: 12345678901234567}":                          "1:16: the value is a integer, not a text; ",
		"admin: {token: 0123456789abcdef, token_file: " + file + "}": "admin has a token and a token_file",
		"admin: {token_file: missing.token}":                         `1:21: the token "missing.token": no such file`,
		"admin: {address: 127.0.0.1:9901, tokens: 0123456789ab}":     "unknown key \"tokens\"",
	} {
		_, err := config.Parse("weir.yaml", []byte(text+"\nroutes: {match: /, respond: {status: 204}}\n"), os.LookupEnv)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		} else if strings.Contains(err.Error(), "0123456789abcdef") {
			t.Errorf("the mistake shows the token: %v", err)
		}
	}
}
