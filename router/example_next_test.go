package router_test

import (
	"fmt"

	"github.com/weirhq/weir/router"
)

// Next returns the patterns that match a request, from the most to the least specific.
func ExampleTable_Next() {
	table, err := router.NewTable(nil, []router.Entry[string]{
		{Pattern: "/{path...}", Value: "site"},
		{Pattern: "GET /search", Value: "search"},
		{Pattern: "example.com/search", Value: "example"},
	})
	if err != nil {
		panic(err)
	}
	var params router.Params
	e, _ := table.Lookup("GET", "example.com", "/search", "", &params)
	for e != nil {
		fmt.Println(e.Pattern)
		e, _ = table.Next("GET", "example.com", "/search", "", &params)
	}
	// Output:
	// example.com/search
	// GET /search
	// /{path...}
}
