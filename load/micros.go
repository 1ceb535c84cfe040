package load

import (
	"encoding/json"
	"math"
)

// Micros is a time in microseconds. A quantile among requests that were never
// answered is [NeverAnswered], which is null in JSON.
type Micros float64

// NeverAnswered is the time of a request that was never answered: +Inf.
var NeverAnswered = Micros(math.Inf(1))

// MarshalJSON implements json.Marshaler.
func (m Micros) MarshalJSON() ([]byte, error) {
	if m == NeverAnswered {
		return []byte("null"), nil
	}
	return json.Marshal(float64(m))
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Micros) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*m = NeverAnswered
		return nil
	}
	return json.Unmarshal(b, (*float64)(m))
}
