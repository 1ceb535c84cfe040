package check_test

import (
	"fmt"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/check"
)

// A check makes a run fail.
func ExampleParse() {
	condition, err := check.Parse("5xx > 0.1%")
	if err != nil {
		fmt.Println(err)
		return
	}
	value, failed, err := condition.Of(&load.Result{Requests: 1000, Status: map[string]int64{"2xx": 998, "5xx": 2}})
	fmt.Println(value, failed, err)

	_, err = check.Parse("p99 > 50")
	fmt.Println(err)
	// Output:
	// 5xx: 2 of 1000 responses (0.2%) true <nil>
	// check "p99 > 50": column 7: 50 has no unit; write 50ms, or one of ns, us and s
}
