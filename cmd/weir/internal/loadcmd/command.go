// Package loadcmd has the verbs of weir load, and weir agent.
package loadcmd

// Command is weir load.
type Command struct {
	Send    sendCommand    `cmd:"" default:"withargs" help:"Send requests and measure the latency."`
	Merge   mergeCommand   `cmd:"" help:"Merge the results of all shares of a plan."`
	Compare compareCommand `cmd:"" help:"Compare results of weir load --json."`
	Gen     genCommand     `cmd:"" help:"Generate data to send."`
}
