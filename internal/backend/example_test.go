package backend_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/internal/backend"
)

func ExampleHandler() {
	s := httptest.NewServer(backend.Handler(backend.Options{Size: 1000}))
	defer s.Close()

	resp, err := http.Get(s.URL + "/?size=32&status=503")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status)
	fmt.Printf("%s\n", body)
	// Output:
	// 503 Service Unavailable
	// The river runs through the weir,
}
