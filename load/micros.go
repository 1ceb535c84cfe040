package load

import (
	"encoding/json"
	"math"
)

// Micros is a time in microseconds. It is [NeverAnswered] for a quantile that falls among
// requests that were never answered. In JSON that is null.
type Micros float64

// NeverAnswered is the time of a request that was never answered.
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
