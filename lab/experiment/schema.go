package experiment

import (
	"errors"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/settings"
)

// schema returns all keys that a file may have, in the order in which they are
// written.
var schema = sync.OnceValue(allSettings)

// keys returns the keys of schema, for readers.
var keys = sync.OnceValue(func() []yamlfile.Key[target] {
	var all []yamlfile.Key[target]
	for _, s := range schema() {
		all = append(all, s.Key)
	}
	return all
})

func newReader(f *yamlfile.File) *reader {
	return &reader{File: f, Schema: keys(), Positions: map[string][]yamlfile.Pos{}}
}

func allSettings() []setting {
	t := func(at func(*Experiment) *string) func(target) *string {
		return func(t target) *string { return at(t.experiment) }
	}
	settings := []setting{
		one("name", parseName, showAny,
			t(func(e *Experiment) *string { return &e.Name })).required("give it a name, as in: name: gc"),
		one("title", parseProse, showAny, t(func(e *Experiment) *string { return &e.Title })),
		one("question", parseProse, showAny, t(func(e *Experiment) *string { return &e.Question })),
		key("build", readBuild, showBuild),
	}
	settings = append(settings, serviceSettings()...)
	settings = append(settings, key("load", (*reader).Fields, nil))
	settings = append(settings, loadSettings()...)
	return append(settings,
		one("warm_up", yamlfile.Duration, showTime, func(t target) *time.Duration { return &t.experiment.WarmUp }),
		key("matrix", (*reader).Names, showMatrix),
		key("matrix.*", readDimension, nil),
		key("exclude", readExclude, showExclude),
		key("include", readInclude, showInclude),
		setting{Key: yamlfile.Key[target]{Path: "include.*", Read: (*reader).Fields, Called: "an addition"}},
		one("include.*.name", parseProse, showAny,
			func(t target) *string { return &t.adding.Name }).required("name the configuration").hidden(),
		one("include.*.about", parseProse, showAny, func(t target) *string { return &t.adding.About }).hidden(),
		key("include.*.set", (*reader).Names, nil),
		key("include.*.set.*", readAdded, nil),
		key("baseline", readBaseline, showBaseline),
		many("lead", parseProse, func(t target) *[]string { return &t.experiment.Lead }),
		many("contrasts", parseProse, func(t target) *[]string { return &t.experiment.Contrasts }),
		one("repeats", between(1, 1000), showAny, func(t target) *int { return &t.experiment.Repeats }),
		one("sample", parsePeriod, showTime, func(t target) *time.Duration { return &t.experiment.Sample }),
		one("seed", parseSeed, showAny, func(t target) *uint64 { return &t.experiment.Seed }),
		many("profiles", yamlfile.Word([]string{"cpu", "alloc_space"}),
			func(t target) *[]string { return &t.experiment.Profiles }),
		key("quick", readQuick, showQuick),
		key("quick.*", readQuickSetting, nil),
	)
}

// serviceSettings returns the settings of the service.
func serviceSettings() []setting {
	return []setting{
		key("service", (*reader).Fields, nil),
		list("service.command", func(t target) *[]string { return (*[]string)(&t.service.Command) }),
		list("service.args", func(t target) *[]string { return &t.service.Args }),
		key("service.env", (*reader).Names, showEnv),
		key("service.env.*", readVariable, nil),
		one("service.dir", parseFilled, showAny, func(t target) *string { return &t.service.Dir }),
		one("service.url", parseURL, showAny, func(t target) *string { return &t.service.URL }),
		one("service.pid", between(1, 1<<22), showAny, func(t target) *int { return &t.service.PID }), // the most PIDs of Linux
		one("service.cgroup", parseProse, showAny, func(t target) *string { return &t.service.Cgroup }),
		one("service.ready", parsePath, showAny, func(t target) *string { return &t.service.Ready }),
		one("service.ready_within", parseTime, showTime,
			func(t target) *time.Duration { return &t.service.ReadyWithin }),
		one("service.stop_within", parseTime, showTime, func(t target) *time.Duration { return &t.service.StopWithin }),
		key("service.limits", (*reader).Fields, nil),
		one("service.limits.files", orNone(between(1, 1<<30)), showAny,
			func(t target) *int { return &t.service.Limits.Files }),
		one("service.limits.memory", orNone(parseMemory), showSize,
			func(t target) *int64 { return &t.service.Limits.Memory }),
		one("service.limits.cpus", orNone(between(1, 4096)), showAny,
			func(t target) *int { return &t.service.Limits.CPUs }),
		sink("service.output", func(t target) *Sink { return &t.service.Output }),
		sink("service.stderr", func(t target) *Sink { return &t.service.Stderr }),
		one("service.lines_per_request", parseShare, showAny,
			func(t target) *float64 { return &t.service.LinesPerRequest }),
		one("service.go", parsePath, showAny, func(t target) *string { return &t.service.Go }),
	}
}

// many returns the setting of a list of values, each read separately.
func many(path string, parse func(yamlfile.Scalar) (string, *yamlfile.Refusal), at func(target) *[]string) setting {
	return key(path, yamlfile.Many(parse, at), func(t target) *yamlfile.Node { return showList(*at(t)) })
}

func list(path string, at func(target) *[]string) setting {
	return key(path, readWords(runNames, at), func(t target) *yamlfile.Node { return showList(*at(t)) })
}

func sink(path string, at func(target) *Sink) setting {
	return key(path, readSink(at), func(t target) *yamlfile.Node { return showSink(*at(t)) })
}

// loadSettings returns the settings below load, as package settings defines
// them.
func loadSettings() []setting {
	var all []setting
	for _, f := range new(settings.Settings).Fields() {
		if f.Name == "warm_up" { // the experiment has one
			continue
		}
		all = append(all, key("load."+f.Name,
			func(r *reader, p place, n *yamlfile.Node) { readLoad(r, p, n, f.Name) },
			func(t target) *yamlfile.Node { return showLoad(t.load, f.Name) }))
	}
	return all
}

// readLoad reads a setting of the load. Package settings checks the value.
func readLoad(r *reader, p place, n *yamlfile.Node, name string) {
	if n.Kind == yamlfile.Bad || !checkTexts(r, n) {
		return
	}
	var wrong *settings.Error
	if err := p.To.load.Set(name, n.Value()); errors.As(err, &wrong) {
		r.Mistakef(n.Pos, wrong.Hint, "%s: %s", name, wrong.Err)
		return
	}
	p.To.setPosition("load."+name, n.Pos)
}

// checkTexts notes the mistakes in the texts of a value or a list, and reports
// whether there are none.
func checkTexts(r *reader, n *yamlfile.Node) bool {
	if n.Kind == yamlfile.Single {
		s := n.Scalar()
		if _, refused := parseTemplate(runNames)(s); refused != nil {
			r.Refuse(s, refused)
			return false
		}
	}
	fine := true
	for _, item := range n.Items {
		fine = checkTexts(r, item) && fine
	}
	return fine
}
