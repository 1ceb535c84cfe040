package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir/lab/guard"
)

// A junitSuite is a report in the format of JUnit. CI systems show its cases,
// which are the conditions.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// GuardJUnit writes the result of a guard in the format of JUnit. A condition
// that is worse has failed, and one that is undecided was skipped.
func GuardJUnit(w io.Writer, r *guard.Result) error {
	suite := junitSuite{Name: "weir lab guard", Time: fmt.Sprintf("%.3f", r.Elapsed.Seconds())}
	add := func(name string, answer guard.Answer, sentence, output string) {
		c := junitCase{Class: suite.Name, Name: name}
		suite.Tests++
		switch answer {
		case guard.Worse:
			c.Failure = &junitMessage{Message: sentence, Text: output}
			suite.Failures++
		case guard.Undecided:
			c.Skipped = &junitMessage{Message: sentence}
			suite.Skipped++
		default:
			c.Output = sentence
		}
		suite.Cases = append(suite.Cases, c)
	}
	if f := r.Failure; f != nil {
		add("the change serves", guard.Worse, r.Sentence(), f.Run.LastOutput)
	}
	for _, j := range r.Conditions {
		add(j.Condition.String(), j.Answer, fmt.Sprintf("%s: %s", j.Answer, j.Sentence()), "")
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// GuardAnnotation writes the answer of a guard as a workflow command of GitHub
// Actions, which shows it above the changed files.
func GuardAnnotation(w io.Writer, r *guard.Result) error {
	command := map[guard.Answer]string{guard.Worse: "error", guard.Undecided: "warning", guard.Fine: "notice"}[r.Answer]
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	_, err := fmt.Fprintf(w, "::%s title=weir lab guard::%s\n", command, escape.Replace(r.Sentence()))
	return err
}
