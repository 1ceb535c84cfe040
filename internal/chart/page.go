package chart

import (
	_ "embed"
	"html/template"

	"github.com/weirhq/weir/internal/readable"
)

//go:embed head.html
var head string

// Page is the template of a page that is made of texts, the last one the page and
// those before it what it uses. Besides their own functions they have visible,
// which is [readable.Visible], and "head", all up to the body: of the page's Title
// and CSS, and for a browser, that the page wants nothing from anywhere.
func Page(functions template.FuncMap, texts ...string) *template.Template {
	t := template.New("page").Funcs(template.FuncMap{"visible": readable.Visible}).Funcs(functions)
	for _, text := range append([]string{head}, texts...) {
		template.Must(t.Parse(text))
	}
	return t
}
