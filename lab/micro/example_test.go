package micro_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/lab/micro"
)

// The two sides are folders here. They may also be commits of a repository.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, side := range []string{"old", "new"} {
		for name, text := range map[string]string{
			"go.mod": "module example.com/sum\n\ngo 1.24\n",
			"sum_test.go": `package sum

import "testing"

func BenchmarkSum(b *testing.B) {
	for b.Loop() {
	}
}
`,
		} {
			if err := os.MkdirAll(filepath.Join(dir, side), 0o755); err != nil {
				panic(err)
			}
			if err := os.WriteFile(filepath.Join(dir, side, name), []byte(text), 0o644); err != nil {
				panic(err)
			}
		}
	}
	r, err := micro.Run(context.Background(), micro.Options{Dir: dir, A: "old", B: "new", Time: "1x", Count: 1})
	if err != nil {
		panic(err)
	}
	for _, c := range r.Configurations {
		fmt.Println(c.Name, c.Baseline, c.Again)
	}
	for _, m := range r.Runs[0].Own {
		fmt.Println(m.Name, m.Unit)
	}
	// Output:
	// old true false
	// old again false true
	// new false false
	// BenchmarkSum time/op s
	// BenchmarkSum bytes/op bytes
	// BenchmarkSum allocs/op
}
