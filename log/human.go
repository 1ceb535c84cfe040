package log

import "github.com/weirhq/weir/log/record"

// A humanEncoder writes for people, who do not read faster when it is made
// faster: it makes JSON and has that read back and shown.
type humanEncoder struct {
	jsonEncoder
	color bool
}

func (h humanEncoder) finish(e *openEvent) []byte {
	line := h.jsonEncoder.finish(e)
	r, err := record.Parse(line)
	if err != nil {
		return line // which is whole, whatever the reader thinks of it
	}
	e.human = r.AppendHuman(e.human[:0], record.HumanOptions{Color: h.color})
	return e.human
}
