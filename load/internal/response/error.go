package response

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/weirhq/weir/internal/http1"
)

// An Error reports bytes that are not a response, or a response whose end is unclear.
type Error struct {
	What  string // the mistake, such as "a chunk is longer than its size"
	Text  string // the beginning of the line with the mistake
	Where string // its place, such as "line 3 of the head"
}

// maxQuoted limits the text in an error, in bytes after escaping.
const maxQuoted = 40

func (e *Error) Error() string {
	return "bad response: " + e.What + ": " + quote(e.Text) + " in " + e.Where
}

func quote(text string) string {
	q := []byte{'"'}
	for i := range len(text) {
		one := strconv.QuoteToASCII(text[i : i+1])
		if len(q)+len(one)-2 > maxQuoted+1 {
			return string(q) + `"...`
		}
		q = append(q, one[1:len(one)-1]...)
	}
	return string(append(q, '"'))
}

// bad returns an Error about the line of buf at the position of err.
func (p *Parser) bad(err *http1.Error, buf []byte) error {
	before := buf[:min(err.Pos, len(buf))]
	line := buf[bytes.LastIndexByte(before, '\n')+1:]
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	where := fmt.Sprintf("line %d of the head", 1+bytes.Count(before, []byte{'\n'}))
	if p.stage == chunkBody {
		where = fmt.Sprintf("the chunks, after %d bytes of the body", p.read)
	}
	return &Error{What: err.Reason, Text: string(line[:min(len(line), maxQuoted+1)]), Where: where}
}
