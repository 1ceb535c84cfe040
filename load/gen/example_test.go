package gen_test

import (
	"fmt"
	"os"

	"github.com/weirhq/weir/load/gen"
)

func ExampleCSV() {
	err := gen.CSV(os.Stdout, gen.CSVOptions{Rows: 2, Columns: []gen.Column{gen.ID, gen.Name, gen.Email, gen.Amount},
		Seed: 1})
	fmt.Println(err)
	// Output:
	// id,name,email,amount
	// 1,Hana Yılmaz,hana.ylmaz1@example.net,4190.04
	// 2,Edsger Dijkstra,edsger.dijkstra2@mail.example,308.63
	// <nil>
}
