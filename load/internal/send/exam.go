package send

import (
	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/response"
)

// An exam compares the responses of a connection of HTTP/1.1 with the expectations of the plan.
type exam struct {
	content response.Content
	*expect.Examiner
}

// newExam returns nil if nothing is expected.
func newExam(expectations []expect.Expectation) *exam {
	if len(expectations) == 0 {
		return nil
	}
	return &exam{Examiner: expect.NewExaminer(expectations)}
}

// Begin implements response.Visitor.
func (x *exam) Begin(status int, h *response.Header) { x.Examiner.Begin(status, h) }

// reset makes the exam ready for another response. A nil exam stays.
func (x *exam) reset() {
	if x != nil {
		x.content.Reset()
	}
}
