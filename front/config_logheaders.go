package front

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// secretHeaders are the fields whose values are never logged.
var secretHeaders = []string{"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"}

// parseLogHeader reads the name of a header field and returns it in lower case.
func parseLogHeader(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	name := strings.ToLower(s.Text)
	switch {
	case !httpsyntax.IsToken([]byte(name)):
		return "", yamlfile.Refuse("write a name, as in accept-language", "%s is not the name of a header", yamlfile.Quote(s.Text))
	case slices.Contains(secretHeaders, name):
		return "", yamlfile.Refuse("remove it", "%s holds a secret, which is never logged", yamlfile.Quote(s.Text))
	case name == "host":
		return "", yamlfile.Refuse("remove it", "every event has the Host as http.host")
	}
	return name, nil
}

// secrets returns the keys whose values the log hides. They include secretHeaders
// if header fields are logged, because a Config need not come from ParseConfig.
// The log then also hides the user and password in a URL, which it does only for
// loggers that have secrets: such a logger takes longer for each field.
func (c *LogConfig) secrets() []string {
	if len(c.RequestHeaders) == 0 && len(c.ResponseHeaders) == 0 {
		return c.Redact
	}
	return slices.Concat(c.Redact, secretHeaders)
}
