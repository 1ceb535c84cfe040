package target_test

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/load/target"
)

func ExampleRead() {
	list, err := target.Read(strings.NewReader(`
# log in, and look around
POST http://shop.example/login
Content-Type: application/json

GET http://shop.example/items/{{rand 1 100}}
http://shop.example/
`), "targets.txt", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	targets, err := target.Rebase(list.Targets, "http://127.0.0.1:8080")
	for _, t := range targets {
		fmt.Println(t.Method, t.URL, t.Header)
	}
	fmt.Println(err)
	// Output:
	// POST http://127.0.0.1:8080/login [{Content-Type application/json}]
	// GET http://127.0.0.1:8080/items/{{rand 1 100}} []
	//  http://127.0.0.1:8080/ []
	// <nil>
}

func ExampleRead_mistake() {
	_, err := target.Read(strings.NewReader("GET http://a.example/\nGET http://a.example/b c\n"), "targets.txt", nil)
	fmt.Println(err)
	// Output: targets.txt:2:23: a URL cannot hold ' '; write %20
}

func ExampleForm() {
	var fields []target.FormField
	for _, text := range []string{"id={{uuid}}", "note=hello;type=text/markdown"} {
		more, err := target.ParseFormField(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fields = append(fields, more...)
	}
	body, contentType, err := target.Form(fields, 1)
	boundary := strings.TrimPrefix(contentType.Value, "multipart/form-data; boundary=")
	text := strings.ReplaceAll(body.Text, boundary, "BOUNDARY")
	fmt.Println(strings.ReplaceAll(text, "\r\n", "\n"), err)
	// Output:
	// --BOUNDARY
	// Content-Disposition: form-data; name="id"
	//
	// {{uuid}}
	// --BOUNDARY
	// Content-Disposition: form-data; name="note"
	// Content-Type: text/markdown
	//
	// hello
	// --BOUNDARY--
	//  <nil>
}

func ExampleGrowPath() {
	for _, t := range target.GrowPath(target.Target{URL: "http://127.0.0.1:8080/api?q"}, 3) {
		fmt.Println(t.URL)
	}
	// Output:
	// http://127.0.0.1:8080/api?q
	// http://127.0.0.1:8080/api/0?q
	// http://127.0.0.1:8080/api/0/1?q
	// http://127.0.0.1:8080/api/0/1/2?q
}
