package lab

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/settings"
)

// Parse reads an experiment from YAML. The name of the file is used in
// messages, and its folder becomes the experiment's. Nothing is opened or run.
//
// The error has a line for each mistake in the file, in file order, with line
// and column: "gc.yaml:3:9: ...". The values of the matrix are checked like the
// settings that they are for, and so are all configurations, including those of
// the experiment that Shorten makes. A file that is not YAML is read only up to
// its first error.
//
// A file may omit the service's command, which [Experiment.Set] can add.
// [Experiment.Run] needs it.
func Parse(file string, text []byte) (*Experiment, error) {
	f, root := yamlfile.Read(file, "an experiment", text)
	e := &Experiment{Folder: filepath.Dir(file)}
	t := target{experiment: e, service: &e.Service, load: &e.Load, positions: map[string]yamlfile.Pos{}}
	if root == nil && f.Err() == nil {
		f.Mistakef(yamlfile.Pos{Line: 1, Col: 1}, "weir lab show gc prints one", "the file is empty")
	}
	if root != nil {
		for _, pair := range root.Pairs {
			t.setPosition(pair.Key.Text, pair.Key.Pos)
		}
		r := newReader(f)
		r.Fields(place{To: t}, root)
		if f.Err() == nil {
			t.check(f)
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

// A target receives the settings of an experiment: the experiment itself, or
// the service and the load of one of its configurations.
type target struct {
	experiment *Experiment
	service    *Service
	load       *settings.Settings

	adding *Addition // set below include only

	// positions has the positions of names such as
	// "matrix.service.output[0]" in a file, for later checks. It may be
	// nil.
	positions map[string]yamlfile.Pos
}

// setPosition notes the position of a name.
func (t target) setPosition(what string, at yamlfile.Pos) {
	if t.positions != nil {
		t.positions[what] = at
	}
}

type (
	reader   = yamlfile.Reader[target]
	place    = yamlfile.Place[target]
	readFunc = yamlfile.ReadFunc[target]
)

func newReader(f *yamlfile.File) *reader {
	schema()
	return &reader{File: f, Schema: table.keys, Positions: map[string][]yamlfile.Pos{}}
}

// A setting is a key of the file with its functions to read and to write it.
type setting struct {
	yamlfile.Key[target]

	// show returns the node for the setting, or nil if it has no value. It
	// is nil for keys that are written by their parent.
	show func(target) *yamlfile.Node
}

// table is the result of schema, made once. It cannot be initialised directly,
// because readers of settings look up others by name, so it would refer to
// itself.
var table struct {
	once     sync.Once
	settings []setting
	keys     []yamlfile.Key[target]
}

// schema returns all keys that a file may have, in the order in which they are
// written.
func schema() []setting {
	table.once.Do(func() {
		table.settings = allSettings()
		for _, s := range table.settings {
			table.keys = append(table.keys, s.Key)
		}
	})
	return table.settings
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
		key("service", (*reader).Fields, nil),
		list("service.command", func(t target) *[]string { return (*[]string)(&t.service.Command) }),
		list("service.args", func(t target) *[]string { return &t.service.Args }),
		key("service.env", (*reader).Names, showEnv),
		key("service.env.*", readVariable, nil),
		one("service.dir", parseFilled, showAny, func(t target) *string { return &t.service.Dir }),
		one("service.url", parseURL, showAny, func(t target) *string { return &t.service.URL }),
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
		key("load", (*reader).Fields, nil),
	}
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
		one("repeats", between(1, 1000), showAny, func(t target) *int { return &t.experiment.Repeats }),
		one("sample", parsePeriod, showTime, func(t target) *time.Duration { return &t.experiment.Sample }),
		one("seed", parseSeed, showAny, func(t target) *uint64 { return &t.experiment.Seed }),
		many("profiles", yamlfile.Word([]string{"cpu", "alloc_space"}),
			func(t target) *[]string { return &t.experiment.Profiles }),
		key("quick", readQuick, showQuick),
		key("quick.*", readQuickSetting, nil),
	)
}

func key(path string, read readFunc, show func(target) *yamlfile.Node) setting {
	return setting{yamlfile.Key[target]{Path: path, Read: read}, show}
}

// one returns the setting of a single value. Its zero value is not written.
func one[V comparable](path string, parse func(yamlfile.Scalar) (V, *yamlfile.Refusal), show func(V) any,
	at func(target) *V) setting {
	return key(path, yamlfile.One(parse, at), func(t target) *yamlfile.Node {
		var zero V
		if v := *at(t); v != zero {
			return yamlfile.Of(show(v))
		}
		return nil
	})
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

func (s setting) required(hint string) setting {
	s.Required = hint
	return s
}

func (s setting) hidden() setting {
	s.show = nil
	return s
}

// loadSettings returns the settings below load, as package settings defines
// them.
func loadSettings() []setting {
	var all []setting
	for _, f := range new(settings.Settings).Fields() {
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

// findSetting returns the setting at a path, and the part of the path that
// matches the last "*" of the setting's own path.
func findSetting(path string) (found setting, name string, ok bool) {
	for _, s := range schema() {
		parent, isFree := strings.CutSuffix(s.Path, "*")
		switch {
		case strings.HasPrefix(s.Path, "include."):
		case s.Path == path:
			_, name := s.Parent()
			return s, name, true
		case isFree && strings.HasPrefix(path, parent) && len(path) > len(parent):
			return s, path[len(parent):], true
		}
	}
	return setting{}, "", false
}

// readSetting reads the value of the setting at a path into t.
func readSetting(r *reader, t target, path string, at yamlfile.Pos, n *yamlfile.Node) {
	s, name, _ := findSetting(path)
	s.Read(r, place{Path: s.Path, Key: yamlfile.Scalar{Text: name, Pos: at}, To: t}, n)
}
