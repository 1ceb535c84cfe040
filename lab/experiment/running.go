package experiment

import "strings"

// Running reports whether the service already runs: it has a URL, a PID or a Cgroup, and no Command. The lab loads and
// measures such a service, and neither starts nor stops it.
func (s *Service) Running() bool {
	return len(s.Command) == 0 && (s.URL != "" || s.PID != 0 || s.Cgroup != "")
}

// Named reports whether there is a service to measure: one with a Command, or one that already runs.
func (s *Service) Named() bool { return len(s.Command) > 0 || s.Running() }

// unfit returns the problems of a service that already runs. Their places are the settings.
func unfit(s *Service) (wrong []problem) {
	switch {
	case len(s.Command) > 0 && s.PID != 0:
		return []problem{{"service.pid", "service.pid is of a service that already runs, and service.command starts one",
			"remove one of them"}}
	case len(s.Command) > 0 && s.Cgroup != "":
		return []problem{{"service.cgroup", "service.cgroup is of a service that already runs, and service.command starts one",
			"remove one of them"}}
	case !s.Running():
		return nil
	case s.PID != 0 && s.Cgroup != "":
		wrong = append(wrong, problem{"service.cgroup", "both service.pid and service.cgroup name the processes of the service",
			"remove one of them"})
	case s.URL == "" && s.PID == 0:
		wrong = append(wrong, problem{"service.cgroup", "the URL of the service is missing",
			"add service.url: http://127.0.0.1:8080/"})
	case strings.Contains(s.URL, "${port}") || strings.Contains(s.URL, "${dir}"):
		wrong = append(wrong, problem{"service.url", "there is no ${port} and no ${dir} of a service that already runs",
			"write its own port, or add service.command"})
	}
	for _, name := range s.ofStart() {
		wrong = append(wrong, problem{name, name + " is for a service that the lab starts, and this one already runs",
			"remove it, or add the command that starts the service"})
	}
	return wrong
}

// ofStart returns the settings of s that have an effect only when the lab starts and stops the service.
func (s *Service) ofStart() (names []string) {
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"service.args", len(s.Args) > 0},
		{"service.env", len(s.Env) > 0},
		{"service.dir", s.Dir != ""},
		{"service.stop_within", s.StopWithin != 0},
		{"service.limits", s.Limits != Limits{}},
		{"service.output", s.Output != Sink{}},
		{"service.stderr", s.Stderr != Sink{}},
		{"service.lines_per_request", s.LinesPerRequest != 0},
	} {
		if setting.set {
			names = append(names, setting.name)
		}
	}
	return names
}
