package sink_test

import (
	"fmt"
	"os"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

func ExampleNewDirect() {
	out := sink.NewDirect(os.Stdout)
	out.WriteEvent(log.LevelInfo, []byte("{\"event\":\"a line\"}\n"))
	out.Close()
	out.WriteEvent(log.LevelError, []byte("{\"event\":\"too late\"}\n"))

	s := out.Stats()
	fmt.Println(s.Emitted, "emitted,", s.Written, "written,", s.Lost(), "lost")
	for _, d := range s.Dropped {
		fmt.Println(d.Level, d.Reason, d.Events)
	}
	// Output:
	// {"event":"a line"}
	// 2 emitted, 1 written, 1 lost
	// error closed 1
}
