package settings_test

import (
	"fmt"

	"github.com/weirhq/weir/load/settings"
)

func Example() {
	var s settings.Settings
	for _, set := range [][2]string{{"url", ":8080/hello"}, {"rate", "1000"}, {"duration", "30s"}} {
		if err := s.Set(set[0], set[1]); err != nil {
			fmt.Println(err)
			return
		}
	}
	plan, err := s.Plan()
	fmt.Println(plan.Targets[0].URL, plan.Pace, plan.Duration, err)
	// Output: http://127.0.0.1:8080/hello 1000/s 30s <nil>
}

func ExampleSettings_Set_mistake() {
	var s settings.Settings
	err := s.Set("rate", "10k")
	fmt.Println(err)
	if e, ok := err.(*settings.Error); ok {
		fmt.Println(e.Hint)
	}
	// Output:
	// rate: "10k" is not a number
	// numbers are written out: 10000
}
