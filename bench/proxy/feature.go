package proxy

import "fmt"

// A Feature is a setting of Weir whose cost is measured separately.
type Feature struct {
	Name  string
	Lines int    // of the log, per request: 0, 1 or 3
	Route string // more keys of the route, each with a leading comma
}

// Door returns Weir with the feature.
func (f Feature) Door() Door {
	d := Door{Name: f.Name, Lines: f.Lines, lossy: true, mallocs: "/metrics", command: weirDoor, route: f.Route,
		level: "info", events: "completed"}
	switch f.Lines {
	case 0:
		d.level = "error"
	case 3:
		d.events = "all"
	case 1:
	default:
		panic(fmt.Sprintf("no setting of Weir writes %d lines for a request", f.Lines))
	}
	return d
}
