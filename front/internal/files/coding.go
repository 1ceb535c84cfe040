package files

import "github.com/weirhq/weir/internal/httpsyntax"

// suffixes are the suffixes of precompressed files by content coding.
var suffixes = map[string]string{"zstd": ".zst", "br": ".br", "gzip": ".gz"}

// Codings returns the codings that [Site.Precompressed] may contain.
func Codings() []string { return []string{"zstd", "br", "gzip"} }

// preferred calls try with the codings that a client accepts, in the order of its weights
// and then of the list, until try returns true. It leaves out the codings that the client likes
// less than the file itself.
func preferred(acceptEncoding string, codings []string, try func(coding string) bool) {
	least := max(1, httpsyntax.CodingQuality(acceptEncoding, "identity"))
	for above := httpsyntax.MaxQuality + 1; above > least; {
		next := 0
		for _, coding := range codings {
			if quality := httpsyntax.CodingQuality(acceptEncoding, coding); quality < above {
				next = max(next, quality)
			}
		}
		for _, coding := range codings {
			if next >= least && httpsyntax.CodingQuality(acceptEncoding, coding) == next && try(coding) {
				return
			}
		}
		above = next
	}
}
