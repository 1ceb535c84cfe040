package front

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// secretHeaders are the fields that are never logged.
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
