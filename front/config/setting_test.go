package config_test

import (
	"slices"
	"testing"
)

// TestSettingsHaveNoPassword checks that settings name files of users and stores, and have no password.
func TestSettingsHaveNoPassword(t *testing.T) {
	c, _, err := parseFiles(t, map[string]string{
		"users": "ann:$2y$05$vktC5YEWNql0blcYYfvUS.A1aue9l1Tk9RH3MYPleT53SEhC0BurG\n",
		"weir.yaml": ups + "routes:\n- match: /\n  to: a\n  basic_auth: {users: users, realm: r}\n" +
			"  limits: {rate: {limit: 1/s, shared: 'redis://u:secret@h:6379/1'}}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Routes[0].Settings {
		got = append(got, s.Key+": "+s.Value)
	}
	for _, want := range []string{"basic_auth: {users: users, realm: r}",
		`limits: {rate: {limit: "1/s", shared: "redis://h:6379/1"}}`} {
		if !slices.Contains(got, want) {
			t.Errorf("the settings %q lack %s", got, want)
		}
	}
}
