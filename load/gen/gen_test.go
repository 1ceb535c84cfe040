package gen_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/load/gen"
)

func table(t *testing.T, o gen.CSVOptions) string {
	t.Helper()
	var b strings.Builder
	if err := gen.CSV(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCSVFieldsBelongToTheirColumns parses every field and checks that it belongs to its column.
func TestCSVFieldsBelongToTheirColumns(t *testing.T) {
	const rows = 5000
	text := table(t, gen.CSVOptions{Rows: rows, Seed: 1})
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(records[0], ","), "id,uuid,name,email,date,amount,text"; got != want ||
		len(records) != rows+1 {
		t.Fatalf("%d records under %s, want %d under %s", len(records), got, rows+1, want)
	}
	version4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	amount := regexp.MustCompile(`^-?\d{1,5}\.\d\d$`)
	unique := map[string]bool{}
	quoted := map[string]int{}
	for i, r := range records[1:] {
		if id, err := strconv.Atoi(r[0]); err != nil || id != i+1 {
			t.Errorf("row %d has the id %s", i+1, r[0])
		}
		if !version4.MatchString(r[1]) || unique[r[1]] {
			t.Errorf("row %d: %s is no UUID, or came before", i+1, r[1])
		}
		if address, err := mail.ParseAddress(r[3]); err != nil || address.Address != r[3] || unique[r[3]] {
			t.Errorf("row %d: the address %s: %v", i+1, r[3], err)
		}
		unique[r[1]], unique[r[3]] = true, true
		if first, last, ok := strings.Cut(r[2], " "); !ok || first == "" || last == "" {
			t.Errorf("row %d: the name %q", i+1, r[2])
		}
		if day, err := time.Parse(time.DateOnly, r[4]); err != nil || day.Year() < 2000 || day.Year() > 2039 {
			t.Errorf("row %d: the date %s", i+1, r[4])
		}
		if !amount.MatchString(r[5]) {
			t.Errorf("row %d: the amount %s", i+1, r[5])
		}
		if r[6] == "" || len(r[6]) > 40 || strings.TrimSpace(r[6]) != r[6] {
			t.Errorf("row %d: the text %q", i+1, r[6])
		}
		for _, c := range []string{",", `"`, "\n"} {
			if strings.Contains(r[6], c) {
				quoted[c]++
			}
		}
	}
	if quoted[","] < 100 || quoted[`"`] < 100 || quoted["\n"] < 100 {
		t.Errorf("texts that need quotes: %v of %d, want some of each", quoted, rows)
	}
	// encoding/csv quotes the same fields.
	var again bytes.Buffer
	w := csv.NewWriter(&again)
	if err := w.WriteAll(records); err != nil {
		t.Fatal(err)
	}
	if again.String() != text {
		t.Error("encoding/csv quotes other fields")
	}
}

func TestCSVIsRepeatable(t *testing.T) {
	short, long := table(t, gen.CSVOptions{Rows: 10, Seed: 1}), table(t, gen.CSVOptions{Rows: 3000, Seed: 1})
	if !strings.HasPrefix(long, short) {
		t.Error("more rows change the first ones")
	}
	if other := table(t, gen.CSVOptions{Rows: 10, Seed: 2}); other == short {
		t.Error("another seed makes the same rows")
	}
}

func TestCSVColumnsMayRepeat(t *testing.T) {
	got := table(t, gen.CSVOptions{Rows: 2, Columns: []gen.Column{gen.ID, gen.ID}})
	if want := "id,id\n1,1\n2,2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := table(t, gen.CSVOptions{}), "id,uuid,name,email,date,amount,text\n"; got != want {
		t.Errorf("no rows: %q, want %q", got, want)
	}
}

func TestCSVWidthLimitsTexts(t *testing.T) {
	for _, width := range []int{1, 2, 5, 40, 1000} {
		text := table(t, gen.CSVOptions{Rows: 300, Columns: []gen.Column{gen.ID, gen.Text}, Width: width})
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for _, r := range records[1:] {
			longest = max(longest, len(r[1]))
			if r[1] == "" {
				t.Errorf("width %d: a text is empty", width)
			}
		}
		if longest > width || longest < width-4 {
			t.Errorf("width %d: the longest text has %d bytes", width, longest)
		}
	}
}

func TestCSVRefusesImpossibleTables(t *testing.T) {
	for _, c := range []struct {
		options gen.CSVOptions
		want    string
	}{
		{gen.CSVOptions{Rows: -1}, "a table of -1 rows"},
		{gen.CSVOptions{Width: -1}, "texts of -1 bytes"},
		{gen.CSVOptions{Columns: []gen.Column{}}, "at least one column"},
		{gen.CSVOptions{Columns: []gen.Column{"id", "mail"}},
			`there is no column "mail"; there are id, uuid, name, email, date, amount, text`},
	} {
		if err := gen.CSV(io.Discard, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.options, err, c.want)
		}
	}
}

var errFull = errors.New("full")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReturned(t *testing.T) {
	for _, rows := range []int{0, 1, 10_000} {
		if err := gen.CSV(fullWriter{}, gen.CSVOptions{Rows: rows}); !errors.Is(err, errFull) {
			t.Errorf("CSV of %d rows: %v, want %v", rows, err, errFull)
		}
	}
	if err := gen.Bytes(fullWriter{}, 1, 1, ""); !errors.Is(err, errFull) {
		t.Errorf("Bytes: %v, want %v", err, errFull)
	}
}

func TestBytesFollowTheSeed(t *testing.T) {
	for _, n := range []int64{0, 1, 3, 4, 5, 1000, 32 << 10, 100_001} {
		for _, alphabet := range []string{"", "a", "abc"} {
			var b, again, other bytes.Buffer
			for seed, w := range []io.Writer{&other, &b} {
				if err := gen.Bytes(w, n, uint64(seed), alphabet); err != nil {
					t.Fatal(err)
				}
			}
			if err := gen.Bytes(&again, n, 1, alphabet); err != nil {
				t.Fatal(err)
			}
			letters := alphabet
			if letters == "" {
				letters = gen.Printable
			}
			if int64(b.Len()) != n || strings.Trim(b.String(), letters) != "" ||
				!bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Errorf("%d bytes of %q: %d bytes, %.40q", n, alphabet, b.Len(), b.String())
			}
			if n >= 1000 && len(letters) > 1 && bytes.Equal(b.Bytes(), other.Bytes()) {
				t.Errorf("%d bytes of %q are the same for another seed", n, alphabet)
			}
		}
	}
	if err := gen.Bytes(io.Discard, -1, 0, ""); err == nil {
		t.Error("-1 bytes were written")
	}
	if err := gen.Bytes(io.Discard, 1, 0, strings.Repeat("a", 257)); err == nil {
		t.Error("an alphabet of 257 bytes was taken")
	}
}

// TestBytesAreEven counts the letters. Each count is binomial, with a mean of 10,000 and
// a deviation of 99.
func TestBytesAreEven(t *testing.T) {
	var b bytes.Buffer
	if err := gen.Bytes(&b, int64(10_000*len(gen.Printable)), 1, ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range gen.Printable {
		if n := bytes.Count(b.Bytes(), []byte(string(c))); n < 9_400 || n > 10_600 {
			t.Errorf("%q came %d times, want about 10000", c, n)
		}
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func BenchmarkCSV(b *testing.B) {
	const rows = 10_000
	var size counter
	if err := gen.CSV(&size, gen.CSVOptions{Rows: rows}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		if err := gen.CSV(io.Discard, gen.CSVOptions{Rows: rows}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBytes(b *testing.B) {
	b.SetBytes(1 << 20)
	for b.Loop() {
		if err := gen.Bytes(io.Discard, 1<<20, 1, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoHeadingDropsOnlyTheHeading checks that only the first line is missing.
func TestNoHeadingDropsOnlyTheHeading(t *testing.T) {
	_, want, _ := strings.Cut(table(t, gen.CSVOptions{Rows: 20}), "\n")
	if got := table(t, gen.CSVOptions{Rows: 20, NoHeading: true}); got != want {
		t.Errorf("without a heading: %q, want %q", got, want)
	}
}
