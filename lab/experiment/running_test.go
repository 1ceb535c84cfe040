package experiment_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/lab/experiment"
)

// TestRunningServiceHasNoSettingsOfAStart reads files of services that already run.
func TestRunningServiceHasNoSettingsOfAStart(t *testing.T) {
	for service, want := range map[string]string{
		"{url: 'http://127.0.0.1:1/'}": "",
		"{pid: 4711}":                  "",
		"{url: 'http://127.0.0.1:1/', pid: 4711, ready: /, go: /}": "",
		"{url: 'http://127.0.0.1:1/', cgroup: a.slice}":            "",
		"{cgroup: a.slice}": "the URL of the service is missing",
		"{url: 'http://127.0.0.1:1/', pid: 4711, cgroup: a.slice}":     "both service.pid and service.cgroup",
		"{url: 'http://127.0.0.1:${port}/'}":                           "there is no ${port}",
		"{command: a, pid: 4711}":                                      "service.command starts one",
		"{command: a, url: 'http://127.0.0.1:1/', cgroup: a.slice}":    "service.command starts one",
		"{pid: 4711, env: {A: b}}":                                     "service.env is for a service that the lab starts",
		"{url: 'http://127.0.0.1:1/', limits: {cpus: 1}}":              "service.limits is for a service that the lab starts",
		"{url: 'http://127.0.0.1:1/'}\nmatrix: {service.args: [a, b]}": "service.args is for a service that the lab starts",
		"{pid: 4711}\nmatrix: {service.command: [a, b]}":               "service.command starts one",
		"{pid: 4711}\nmatrix: {load.connections: [1, 2]}":              "",
		"{ready: /}\nmatrix: {service.pid: {old: 4711, new: 4712}}":    "",
	} {
		e, err := experiment.Parse("running.yaml", []byte("name: running\nservice: "+service+"\n"))
		if err == nil {
			var cases []experiment.Case
			cases, err = e.Configurations()
			for _, c := range cases {
				if err == nil && !c.Service.Running() {
					t.Errorf("%s: %s does not run", service, c.Name)
				}
			}
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", service, err, want)
		}
	}
}

// TestCommandMayBeMissingInAFileWithAURL reads a file whose command comes from the command line.
func TestCommandMayBeMissingInAFileWithAURL(t *testing.T) {
	e, err := experiment.Parse("mine.yaml", []byte("name: mine\nservice: {url: 'http://127.0.0.1:${port}/', env: {A: b}}\n"))
	if err == nil {
		err = e.Set("service.command", "a")
	}
	if err == nil {
		_, err = e.Configurations()
	}
	if err != nil {
		t.Error(err)
	}
}
