// Compose-check reports whether a file is a valid compose file.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithName("weir"))
	if err == nil {
		err = check(options)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compose-check:", err)
		os.Exit(1)
	}
}

// check prints the names of the services.
func check(options *cli.ProjectOptions) error {
	project, err := options.LoadProject(context.Background())
	if err == nil {
		fmt.Println(slices.Sorted(maps.Keys(project.Services)))
	}
	return err
}
