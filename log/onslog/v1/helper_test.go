package log_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/weirhq/weir/log/onslog/v1"
)

// created matches the start of a line up to created_at, which differs in each run.
var created = regexp.MustCompile(`^\{"created_at":"[-0-9]+T[0-9:.]+Z",`)

// logged returns the output of do without created_at. It checks the format of
// created_at.
func logged(t testing.TB, do func()) string {
	t.Helper()
	var b bytes.Buffer
	log.SetDestination(&b, nil)
	defer log.SetDestination(os.Stdout, nil)
	do()
	line := b.String()
	if line != "" && !created.MatchString(line) {
		t.Errorf("%q does not begin with created_at", line)
	}
	return created.ReplaceAllLiteralString(line, "{")
}
