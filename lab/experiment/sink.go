package experiment

import (
	"strings"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

const sinkExample = "it is null, file, terminal, pipe, or a pipe as in: pipe 256KiB/s, pipe stops 10s after 5s"

// parseSink reads the destination of output.
func parseSink(s yamlfile.Scalar) (Sink, *yamlfile.Refusal) {
	words := strings.Fields(s.Text)
	if len(words) == 0 {
		return Sink{}, yamlfile.Refuse(sinkExample, "the value is empty")
	}
	sink := Sink{Kind: SinkKind(words[0])}
	switch sink.Kind {
	case Null, File, Terminal:
		if len(words) > 1 {
			return Sink{}, yamlfile.Refuse("only the reader of a pipe is slow or stops", "%s cannot be",
				yamlfile.Quote(s.Text))
		}
		return sink, nil
	case Pipe:
		return parsePipe(sink, words[1:], s)
	}
	hint := yamlfile.RightWord(words[0], []string{"null", "file", "pipe", "terminal"})
	if !strings.HasPrefix(hint, "did") {
		hint = sinkExample
	}
	return Sink{}, yamlfile.Refuse(hint, "%s is nowhere that output could go", yamlfile.Quote(s.Text))
}

// parsePipe reads the words after pipe: a speed, "stops 10s after 5s", or both.
func parsePipe(sink Sink, words []string, s yamlfile.Scalar) (Sink, *yamlfile.Refusal) {
	if len(words) > 0 && words[0] != "stops" {
		speed, refused := yamlfile.Speed(yamlfile.Scalar{Text: words[0]})
		if refused != nil {
			return Sink{}, refused
		}
		if speed == 0 {
			return Sink{}, yamlfile.Refuse("a reader that stops is written as: pipe stops 10s after 5s",
				"%s reads nothing", yamlfile.Quote(s.Text))
		}
		sink.PerSecond, words = speed, words[1:]
	}
	if len(words) == 0 {
		return sink, nil
	}
	if len(words) != 4 || words[0] != "stops" || words[2] != "after" {
		return Sink{}, yamlfile.Refuse(sinkExample, "%s is no pipe", yamlfile.Quote(s.Text))
	}
	for _, part := range []struct {
		text string
		at   *time.Duration
	}{{words[1], &sink.StopFor}, {words[3], &sink.StopAt}} {
		d, refused := yamlfile.Duration(yamlfile.Scalar{Text: part.text})
		if refused != nil {
			return Sink{}, refused
		}
		*part.at = d
	}
	if sink.StopFor == 0 {
		return Sink{}, yamlfile.Refuse("say for how long, as in: pipe stops 10s after 5s", "%s does not stop",
			yamlfile.Quote(s.Text))
	}
	return sink, nil
}

// String returns the sink as in an experiment's file.
func (s Sink) String() string {
	text := string(s.Kind)
	if s.Kind == "" {
		text = string(Null)
	}
	if s.PerSecond > 0 {
		text += " " + yamlfile.ShowSize(s.PerSecond) + "/s"
	}
	if s.StopFor > 0 {
		text += " stops " + s.StopFor.String() + " after " + s.StopAt.String()
	}
	return text
}

// readSink reads a sink. Its null is that of YAML.
func readSink(at func(target) *Sink) readFunc {
	one := yamlfile.One(parseSink, at)
	return func(r *reader, p place, n *yamlfile.Node) {
		if n.Kind == yamlfile.Null {
			*at(p.To) = Sink{Kind: Null}
			return
		}
		one(r, p, n)
	}
}

// showSink returns the node of a sink, or nil for the zero sink.
func showSink(s Sink) *yamlfile.Node {
	switch s.Kind {
	case "":
		return nil
	case Null:
		return yamlfile.Of(nil)
	default:
		return yamlfile.Of(s.String())
	}
}
