package record

// Wrong counts the responses that are not as expected.
type Wrong struct {
	Codes   [1000]int64 // by status
	Reasons []Reason    // by expectation
}

// A Reason counts the responses that do not meet an expectation, and has an example.
type Reason struct {
	N       int64
	Example string
}

// NewWrong returns the counts for so many expectations.
func NewWrong(expectations int) *Wrong { return &Wrong{Reasons: make([]Reason, expectations)} }

func (w *Wrong) merge(o *Wrong) {
	for code, n := range o.Codes {
		w.Codes[code] += n
	}
	for i, r := range o.Reasons {
		w.Reasons[i].add(r.N, r.Example)
	}
}

func (r *Reason) add(n int64, example string) {
	if r.N == 0 {
		r.Example = example
	}
	r.N += n
}
