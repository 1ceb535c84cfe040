// Package labcmd has the verbs of weir lab.
package labcmd

type Command struct {
	Run     runCommand     `cmd:"" help:"Run an experiment and write the report."`
	List    listCommand    `cmd:"" help:"List the built-in experiments."`
	Show    showCommand    `cmd:"" help:"Print the file of a built-in experiment."`
	Report  reportCommand  `cmd:"" help:"Write the report of earlier results again."`
	Compare compareCommand `cmd:"" help:"Compare two folders of results."`
	Guard   guardCommand   `cmd:"" help:"Answer whether a change makes a service slower."`
	Micro   microCommand   `cmd:"" help:"Compare the Go benchmarks of two commits."`
	Half    halfCommand    `cmd:"" hidden:"" help:"Make the runs of one half of weir lab guard --duet."`
}

// Help implements kong.HelpProvider.
func (Command) Help() string {
	return `An experiment is a service, a load, and settings of both that vary. The lab starts the service in each
configuration repeatedly, and reports the differences that are larger than noise. docs/lab.md leads to a
first finding.

Examples:
  weir lab list
  weir lab run three-events --quick
  weir lab run log-cost -- python3 -m http.server
  weir lab guard --base origin/main -- ./my-service`
}
