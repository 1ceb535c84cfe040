package load_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

// TestCommandsOfCurlAreSentAsByCurl runs commands with curl, and loads the server with them. Both requests are the same,
// except for the fields that name the client.
func TestCommandsOfCurlAreSentAsByCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	var mu sync.Mutex
	var got []string // guarded by mu
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var fields []string
		for name, values := range r.Header {
			if name != "User-Agent" && name != "Accept" && name != "Accept-Encoding" {
				fields = append(fields, fmt.Sprintf("%s: %q", name, values))
			}
		}
		slices.Sort(fields)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s %s %s %q\n%s", r.Method, r.Host, r.RequestURI, body, strings.Join(fields, "\n")))
	})
	for _, arguments := range []string{
		`'URL/a?b=\[c\]&d' -H 'x-a: b' -H "X-Empty;" -H 'X-None:' -b 'e=f; g=h' --compressed`,
		`-XPUT URL/ --data-raw $'{"a":"it\'s \u00e4\n"}' -H 'Content-Type: application/json'`,
		`URL/ -d a=b -d 'c=d e' --data-urlencode 'f=ä&' -u 'me:p w' -e http://r.example/`,
		`-G URL/?a=b -d c=d --data-urlencode 'e=f'`,
		`URL/ --json '{"a":1}' -sS`,
		`-I URL/a/../b --path-as-is`,
		`-k URL/ -b 'a=b; c=d' \
			-H 'Host: other.example'`,
	} {
		command := strings.ReplaceAll(arguments, "URL", s.URL)
		mu.Lock()
		got = nil
		mu.Unlock()
		if out, err := exec.Command("bash", "-c", curl+" "+command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		list, err := target.Read(strings.NewReader("curl "+command), "test", nil)
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		run(t, load.Plan{Targets: list.Targets, Connections: 1, Requests: 3, Process: -1})
		mu.Lock()
		all := got
		mu.Unlock()
		if len(all) != 4 {
			t.Fatalf("%s: the server got %d requests, want 1 of curl and 3", command, len(all))
		}
		for _, mine := range all[1:] {
			if diff := cmp.Diff(all[0], mine); diff != "" {
				t.Errorf("%s: curl - weir +\n%s", command, diff)
			}
		}
	}
}
