package hdr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestHistogramAgreesWithHdrHistogram compares the results for several sets of values with those of hdrhistogram-go
// v1.4.0.
func TestHistogramAgreesWithHdrHistogram(t *testing.T) {
	var vectors []struct {
		Name          string
		Values, Ranks [][2]int64 // value and count; rank and value
		Min, Max      int64
		Mean, StdDev  float64
		Encoded       string
	}
	text, err := os.ReadFile("testdata/hdrhistogram-go.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		h := New()
		for _, value := range v.Values {
			h.Record(value[0], value[1])
		}
		mean, deviation := h.Moments()
		if h.Min() != v.Min || h.Max() != v.Max || !near(mean, v.Mean) || !near(deviation, v.StdDev) {
			t.Errorf("%s: from %d to %d, mean %v, deviation %v; want %d, %d, %v, %v", v.Name, h.Min(), h.Max(), mean,
				deviation, v.Min, v.Max, v.Mean, v.StdDev)
		}
		for _, rank := range v.Ranks {
			if got := h.At(rank[0]); got != rank[1] {
				t.Errorf("%s: the value of rank %d is %d, want %d", v.Name, rank[0], got, rank[1])
			}
		}
		decoded, err := Decode(v.Encoded)
		if err != nil || *decoded != *h {
			t.Errorf("%s: what hdrhistogram-go has encoded is not decoded: %v", v.Name, err)
		}
		if again, err := Decode(h.Encode()); err != nil || *again != *h {
			t.Errorf("%s: what Encode returns is not decoded: %v", v.Name, err)
		}
	}
	if len(vectors) < 7 {
		t.Errorf("there are %d sets of values", len(vectors))
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// TestBucketsAreAdjacentAndNarrow checks that the buckets are adjacent, and no wider than a 1024th of their values.
func TestBucketsAreAdjacentAndNarrow(t *testing.T) {
	var before Bucket
	h := New()
	for i := range length {
		b := h.bucket(i)
		if i > 0 && b.From != before.To+1 || index(b.From) != i || index(b.To) != i || (b.To-b.From)*half > b.From {
			t.Fatalf("bucket %d is %+v, the one before %+v; the indexes of its values are %d and %d", i, b, before,
				index(b.From), index(b.To))
		}
		before = b
	}
	if before.To < Longest {
		t.Errorf("the last bucket is %+v, want one that reaches %d", before, Longest)
	}
}

func TestDamagedHistogramIsAnError(t *testing.T) {
	h := New()
	h.Record(5000, 3)
	whole := h.Encode()
	packed, err := base64.StdEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(packed)
	other[3]++
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "compressed histogram"},
		{"no base64", "?", "illegal base64"},
		{"another format", base64.StdEncoding.EncodeToString(other), "compressed histogram"},
		{"half of it", base64.StdEncoding.EncodeToString(packed[:len(packed)/2]), "reading the head"},
		{"without the end", base64.StdEncoding.EncodeToString(packed[:len(packed)-3]), "reading the counts"},
	} {
		if _, err := Decode(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name   string
		counts []int64
		want   string
	}{
		{"too many buckets", append(make([]int64, length), 1), "more than"},
		{"too many empty buckets", []int64{1, -length}, "more than"},
		{"more empty buckets than a number", []int64{math.MinInt64}, "more than"},
		{"too many values", []int64{math.MaxInt64, 1}, "too large"},
	} {
		var b []byte
		for _, n := range c.counts {
			b = binary.AppendVarint(b, n)
		}
		if _, err := decodeCounts(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if _, err := decodeCounts([]byte{0x80}); err == nil {
		t.Error("a count that is cut off has no error")
	}
}

// FuzzHistogram records values in two histograms, merges them, and compares each rank with the sorted values.
func FuzzHistogram(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint8(1))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, uint8(0))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, split uint8) {
		parts := []*Histogram{New(), New()}
		var values []int64
		for ; len(b) >= 8; b = b[8:] {
			v := int64(binary.LittleEndian.Uint64(b) >> (b[0] % 60))
			parts[min(len(values)/(int(split)+1), 1)].Record(v, 1)
			values = append(values, min(max(v, 0), Longest))
		}
		slices.Sort(values)
		h := parts[0]
		h.Merge(parts[1])
		if h.Count() != int64(len(values)) {
			t.Fatalf("%d values, want %d", h.Count(), len(values))
		}
		var sum float64
		for i, v := range values {
			if got := h.At(int64(i + 1)); got < v || got-v > v/half {
				t.Errorf("the value of rank %d is %d, want %d or at most a 1024th more", i+1, got, v)
			}
			sum += float64(v)
		}
		if mean, _ := h.Moments(); len(values) > 0 && math.Abs(mean*float64(len(values))-sum) > sum/half {
			t.Errorf("the mean is %v of %v", mean, values)
		}
		if again, err := Decode(h.Encode()); err != nil || *again != *h {
			t.Errorf("what Encode returns is not decoded: %v", err)
		}
	})
}

// FuzzDecode decodes text. What can be decoded is the same after it was encoded.
func FuzzDecode(f *testing.F) {
	h := New()
	h.Record(5000, 3)
	f.Add(h.Encode())
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Decode(text)
		if err != nil {
			return
		}
		if again, err := Decode(h.Encode()); err != nil || *again != *h {
			t.Errorf("what was decoded from %q is not the same again: %v", text, err)
		}
	})
}
