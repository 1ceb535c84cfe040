package record

// Each function below that takes a member, with the Nodes within it, reports
// whether its value has the type of the format. If not, the member goes to
// Extra. So does a member whose field is set already: the first of repeated keys
// counts.

// parseJSON reads a line that begins with a brace.
func (p *parser) parseJSON(object string) (err error) {
	if p.nodes, err = appendNodes(p.nodes[:0], object); err != nil {
		return err
	}
	p.record.Extra = members(p.nodes, func(m []Node) bool { return p.member(m) || p.omitted != 0 })
	return nil
}

// members calls known for each member of an object, and returns the members for
// which it returned false.
func members(nodes []Node, known func(m []Node) bool) (extra []Field) {
	for i, next := 0, 0; i < len(nodes); i = next {
		next = i + 1 + nodes[i].Inner
		if !known(nodes[i:next]) {
			extra = append(extra, nodes[i].field())
		}
	}
	return extra
}

func (p *parser) member(m []Node) bool {
	switch m[0].Key {
	case "http":
		return p.setHTTP(m)
	case "auth":
		return p.setAuth(m)
	case "data":
		return p.omitted.has(keyData) || p.setData(m)
	case "error":
		return p.omitted.has(keyErrors) || p.setError(m)
	case "errors":
		return p.omitted.has(keyErrors) || p.setErrors(m)
	case "truncated":
		return p.omitted.has(keyTruncated) || setTexts(&p.record.Truncated, m)
	}
	return p.setKey(0, firstHTTP, &m[0])
}

// setKey sets the field of a key. It reports whether the key is in
// keys[from:to] and the value has the key's type.
func (p *parser) setKey(from, to int, n *Node) bool {
	place, ok := p.find(from, to, n.Key)
	if !ok {
		return false
	}
	if p.omitted.has(place) {
		ok = n.Value.isString() // saw needs only the type
	} else {
		ok = setJSON(keys[place].field(&p.record), n)
	}
	if ok {
		p.saw(place)
	}
	return ok
}

// find returns the index of a key in keys[from:to]. It starts after the last
// key that it found, because nearly all lines have the keys in this order.
func (p *parser) find(from, to int, key string) (place int, ok bool) {
	next := min(max(p.next, from), to)
	for i := next; i < to; i++ {
		if keys[i].json == key {
			p.next = i + 1
			return i, true
		}
	}
	for i := from; i < next; i++ {
		if keys[i].json == key {
			p.next = i + 1
			return i, true
		}
	}
	return 0, false
}

// setError reads the error of shape v1, which precedes any "errors".
func (p *parser) setError(m []Node) bool {
	if len(p.record.Errors) > 0 || !m[0].isObject() {
		return false
	}
	p.record.Errors = []Error{parseError(m, true)}
	return true
}

func (p *parser) setErrors(m []Node) bool {
	if p.hasErrors || !m[0].isArray() {
		return false
	}
	var list []Error
	for i, next := 1, 0; i < len(m); i = next {
		next = i + 1 + m[i].Inner
		if !m[i].isObject() {
			return false
		}
		list = append(list, parseError(m[i:next], false))
	}
	p.record.Errors = append(p.record.Errors, list...)
	p.hasErrors = len(list) > 0
	return true
}

// parseError reads an error. Shape v1 has another key for the message.
func parseError(object []Node, v1 bool) (e Error) {
	e.Extra = members(object[1:], func(m []Node) bool {
		switch m[0].Key {
		case "message":
			return setText(&e.Message, &m[0])
		case "error":
			return v1 && setText(&e.Message, &m[0])
		case "stack_trace":
			return setStack(&e.Stack, m)
		case "data":
			return setFields(&e.Data, m)
		}
		return false
	})
	return e
}

func (p *parser) setHTTP(m []Node) bool {
	if p.record.HTTP != nil || !m[0].isObject() {
		return false
	}
	if ^p.omitted&httpPlaces != 0 {
		h := p.http()
		h.Extra = p.object(firstHTTP, firstAuth, m[1:])
	}
	return true
}

func (p *parser) setAuth(m []Node) bool {
	if p.record.Auth != nil || !m[0].isObject() {
		return false
	}
	if ^p.omitted&authPlaces != 0 {
		a := p.auth()
		a.Extra = p.object(firstAuth, len(keys), m[1:])
	}
	return true
}

// object reads the members of an object with the keys in keys[from:to], and
// returns the others.
func (p *parser) object(from, to int, nodes []Node) (extra []Field) {
	return members(nodes, func(m []Node) bool { return p.setKey(from, to, &m[0]) || p.omitted != 0 })
}

func (p *parser) setData(m []Node) bool {
	if p.record.Data != nil || !m[0].isObject() {
		return false
	}
	var room []Field
	if p.reader != nil {
		room = p.reader.data[:0]
	}
	if fields := appendFields(room, m[1:]); len(fields) > 0 {
		p.record.Data = fields
		if p.reader != nil {
			p.reader.data = fields
		}
	}
	return true
}

// setStack reads an array of objects, if they have only the keys of a frame.
func setStack(dst *[]Frame, m []Node) bool {
	if *dst != nil || !m[0].isArray() {
		return false
	}
	var frames []Frame
	for i, next := 1, 0; i < len(m); i = next {
		next = i + 1 + m[i].Inner
		if !m[i].isObject() {
			return false
		}
		var f Frame
		if members(m[i+1:next], f.member) != nil {
			return false
		}
		frames = append(frames, f)
	}
	*dst = frames
	return true
}

func (f *Frame) member(m []Node) bool {
	switch m[0].Key {
	case "file":
		return setText(&f.File, &m[0])
	case "line":
		return setInt(&f.Line, string(m[0].Value))
	case "function":
		return setText(&f.Function, &m[0])
	}
	return false
}
