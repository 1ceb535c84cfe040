package target_test

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load/target"
)

// A formPart is a part of a form, read by mime/multipart.
type formPart struct{ Name, Filename, Type, Content string }

// readForm reads a body of Form, from its file or its text.
func readForm(t *testing.T, body target.Body, header target.Header) []formPart {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(header.Value)
	if err != nil || kind != "multipart/form-data" || header.Name != "Content-Type" {
		t.Fatalf("the header is %+v, %v", header, err)
	}
	var content io.Reader = strings.NewReader(body.Text)
	if body.File != nil {
		content = io.NewSectionReader(body.File, 0, body.Size)
		t.Cleanup(func() {
			if _, err := body.File.ReadAt(make([]byte, 1), body.Size); !errors.Is(err, io.EOF) {
				t.Errorf("behind the end: %v, want %v", err, io.EOF)
			}
		})
	}
	var parts []formPart
	for r := multipart.NewReader(content, parameters["boundary"]); ; {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, formPart{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), string(text)})
	}
}

func TestFormEncodesValues(t *testing.T) {
	body, header, err := target.Form([]target.FormField{
		{Name: "a", Value: "1\r\n2"}, {Name: "b"}, {Name: "c\"\r\n", Value: "{}", ContentType: "application/json"},
		{Name: "d", Value: "x", Filename: "x.txt"},
	}, 1)
	if err != nil || body.File != nil {
		t.Fatalf("a form of values is %+v, %v; want a text", body, err)
	}
	want := []formPart{
		{"a", "", "", "1\r\n2"}, {"b", "", "", ""}, {"c%22%0D%0A", "", "application/json", "{}"},
		{"d", "x.txt", "", "x"},
	}
	if diff := cmp.Diff(want, readForm(t, body, header)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
	again, _, _ := target.Form([]target.FormField{{Name: "a"}}, 1)
	other, _, _ := target.Form([]target.FormField{{Name: "a"}}, 2)
	if again.Text[:60] != body.Text[:60] || other.Text[:60] == body.Text[:60] {
		t.Error("the boundary does not follow the seed")
	}
}

func TestFormEncodesFiles(t *testing.T) {
	large := strings.Repeat("0123456789", 50_000)
	photo, note, none := testkit.TempFile(t, "photo.PNG", large), testkit.TempFile(t, "note", "hello {{seq}}"), testkit.TempFile(t, "none.txt", "")
	body, header, err := target.Form([]target.FormField{
		{Name: "first", Value: "1"}, {Name: "f", Path: photo}, {Name: "f", Path: note, Filename: `a"b`,
			ContentType: "text/x"},
		{Name: "n", Path: note, Inline: true}, {Name: "e", Path: none},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []formPart{
		{"first", "", "", "1"}, {"f", "photo.PNG", "image/png", large}, {"f", "a%22b", "text/x", "hello {{seq}}"},
		{"n", "", "", "hello {{seq}}"}, {"e", "none.txt", "text/plain", ""},
	}
	var group sync.WaitGroup // goroutines share the form
	for range 3 {
		group.Go(func() {
			if diff := cmp.Diff(want, readForm(t, body, header)); diff != "" {
				t.Errorf("want - got +\n%s", diff)
			}
		})
	}
	group.Wait()
}

// TestFormIsReadAtEveryOffset reads a form at every offset with several lengths.
func TestFormIsReadAtEveryOffset(t *testing.T) {
	body, _, err := target.Form([]target.FormField{{Name: "a", Path: testkit.TempFile(t, "x", "content")},
		{Name: "b", Path: testkit.TempFile(t, "y", "")}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	whole := make([]byte, body.Size)
	if n, err := body.File.ReadAt(whole, 0); n != len(whole) || err != nil {
		t.Fatalf("read %d of %d: %v", n, len(whole), err)
	}
	for offset := range len(whole) + 1 {
		for _, length := range []int{0, 1, 2, 7, 100, len(whole)} {
			got := make([]byte, length)
			n, err := body.File.ReadAt(got, int64(offset))
			want := whole[offset:min(offset+length, len(whole))]
			if string(got[:n]) != string(want) || (err != nil) != (n < length) ||
				err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("ReadAt(%d bytes, %d) = %q, %v; want %q", length, offset, got[:n], err, want)
			}
		}
	}
	if _, err := body.File.ReadAt(whole, -1); err == nil {
		t.Error("ReadAt(-1) has no error")
	}
}

func TestShrunkFormFileIsAnError(t *testing.T) {
	path := testkit.TempFile(t, "x", "content")
	body, _, err := target.Form([]target.FormField{{Name: "a", Path: path}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := body.File.ReadAt(make([]byte, body.Size), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

func TestFormRejectsBadFields(t *testing.T) {
	path := testkit.TempFile(t, "x", "content")
	for _, c := range []struct {
		fields []target.FormField
		want   string
	}{
		{[]target.FormField{{Name: "a", Path: "/no/such/file"}}, `form field "a": open /no/such/file`},
		{[]target.FormField{{Name: "a", Path: os.TempDir()}}, `form field "a": read ` + os.TempDir()},
		{[]target.FormField{{Name: "a", Path: path, Value: "x"}}, "both a Value and a Path"},
		{[]target.FormField{{Name: "a", Inline: true}}, "Inline and has no Path"},
		{[]target.FormField{{Name: "a", ContentType: "a\r\nb"}}, "has control characters"},
		{[]target.FormField{{Name: "a", Value: "{{seq}}"}, {Name: "b", Path: path}},
			`form field "a": the values of a form with files cannot hold templates`},
	} {
		if _, _, err := target.Form(c.fields, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.fields, err, c.want)
		}
	}
}

func TestFormFieldsAreParsed(t *testing.T) {
	for text, want := range map[string][]target.FormField{
		"name=value":                        {{Name: "name", Value: "value"}},
		"=":                                 {{}},
		"a=b=c, d":                          {{Name: "a", Value: "b=c, d"}},
		"a={{uuid}}":                        {{Name: "a", Value: "{{uuid}}"}},
		"a=b;type=text/html; charset=utf-8": {{Name: "a", Value: "b", ContentType: "text/html;charset=utf-8"}},
		`a="b;c";type=text/plain`:           {{Name: "a", Value: "b;c", ContentType: "text/plain"}},
		`a="b" and c`:                       {{Name: "a", Value: `"b" and c`}},
		`a="b`:                              {{Name: "a", Value: `"b`}},
		"f=@x.png":                          {{Name: "f", Path: "x.png"}},
		"f=@x,y;type=image/gif,z": {{Name: "f", Path: "x"}, {Name: "f", Path: "y", ContentType: "image/gif"},
			{Name: "f", Path: "z"}},
		`f=@"a,b;c";filename="n;\"\\.txt"`: {{Name: "f", Path: "a,b;c", Filename: `n;"\.txt`}},
		"f=@x;filename=n; type=text/plain": {{Name: "f", Path: "x", Filename: "n", ContentType: "text/plain"}},
		"f=<x":                             {{Name: "f", Path: "x", Inline: true}},
		"f=<x;type=text/plain":             {{Name: "f", Path: "x", Inline: true, ContentType: "text/plain"}},
		"f=b;filename=c":                   {{Name: "f", Value: "b", Filename: "c"}},
	} {
		got, err := target.ParseFormField(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v; want - got +\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"name":            `form field "name": there is no =`,
		"f=@":             `form field "f=@": column 4: the name of a file is missing`,
		"f=@x,":           "column 6: the name of a file is missing",
		"f=a;b":           `column 5: "b" is neither type= nor filename=; put a value with a semicolon in quotes`,
		"f=@x;headers=y":  `column 6: "headers=y" is neither`,
		"f=<x,y":          "< reads one file",
		"f=<x;filename=y": "column 4: a file after < is sent as a value",
	} {
		if got, err := target.ParseFormField(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %s", text, got, err, want)
		}
	}
}

func FuzzParseFormField(f *testing.F) {
	for _, s := range []string{"a=b", "a=@b,c;type=d;e;filename=f", `a="\"";type=x`, "a=<b;type=;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fields, err := target.ParseFormField(s)
		if (err == nil) != (len(fields) > 0) {
			t.Errorf("%q: %+v, %v", s, fields, err)
		}
		for _, field := range fields {
			if name, _, _ := strings.Cut(s, "="); field.Name != name {
				t.Errorf("%q: the name is %q", s, field.Name)
			}
		}
	})
}
