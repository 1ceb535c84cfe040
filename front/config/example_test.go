package config_test

import (
	"fmt"
	"os"

	"github.com/weirhq/weir/front/config"
)

func ExampleParse() {
	c, err := config.Parse("weir.yaml", []byte(`
upstreams:
  site: {servers: ["${SITE_URL:-http://127.0.0.1:8080}"]}
routes:
  - {match: "/{path...}", to: site, timeout: 5s}
`), os.LookupEnv)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listen on", c.Listen)
	for _, r := range c.Routes {
		fmt.Println(r.Match, "to", r.To, "within", r.Timeout)
	}
	// Output:
	// listen on [:20000]
	// /{path...} to site within 5s
}

// All mistakes are reported together.
func ExampleMistakes() {
	_, err := config.Parse("weir.yaml", []byte(`lisen: ":80"
drain: 10
upstreams:
  site: {servers: [http://127.0.0.1:8080]}
routes:
  - {match: "/{path...}", to: stie}
`), os.LookupEnv)
	fmt.Println(err)
	// Output:
	// weir.yaml:1:1: unknown key "lisen" here; did you mean "listen"?
	// weir.yaml:2:8: "10" is a number without a unit; add a unit, as in 10s
	// weir.yaml:6:31: there is no upstream "stie"; did you mean "site"?
}
