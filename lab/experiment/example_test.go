package experiment_test

import (
	"fmt"

	"github.com/weirhq/weir/lab/experiment"
)

func ExampleParse() {
	e, err := experiment.Parse("experiment.yaml", []byte(`
name: gc
service:
  command: ./server --listen 127.0.0.1:${port}
  url: http://127.0.0.1:${port}/
matrix:
  service.output: [null, file]
  service.env.GOGC: [10, 100]
exclude: [{service.output: "null", service.env.GOGC: 10}]
baseline: {service.output: file, service.env.GOGC: 100}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	cases, err := e.Configurations()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range cases {
		fmt.Println(c.Name)
	}
	// Output:
	// output=null GOGC=100
	// output=file GOGC=10
	// output=file GOGC=100
	// output=file GOGC=100 (again)
}

// Parse reports all mistakes at once.
func ExampleParse_mistakes() {
	_, err := experiment.Parse("experiment.yaml", []byte(`
name: gc
service:
  otput: file
matrix:
  load.connections: [1, 64k]
`))
	fmt.Println(err)
	// Output:
	// experiment.yaml:4:3: unknown key "otput" here; did you mean "output"?
	// experiment.yaml:6:25: connections: "64k" is not a whole number; numbers are written out: 64000
}
